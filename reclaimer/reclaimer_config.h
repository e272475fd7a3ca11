/*
 * reclaimer_config.h - all settings of the reclaimer.
 */
#ifndef RECLAIMER_RECLAIMER_CONFIG_H
#define RECLAIMER_RECLAIMER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/config/setting.h"
#include "common/http/http_server.h"
#include "common/redis/redis.h"
#include "linkstore/links_config.h"
#include "linkstore/quarantine.h"

/* The `reclaimer` section. */
struct reclaimer_settings {
	char *admin;
	int64_t lock_ttl;	/* ms */
	int64_t chunk;		/* blocks scanned, then settled, at once */
	int64_t max_lost;	/* blocks without marker that a run accepts */
	int64_t sample_every;	/* one of this many closed blocks is checked */
	int64_t progress_every; /* ms between log lines */
	int64_t overdue_after;	/* ms */
	bool record; /* one row for each run and space in ClickHouse */
};

struct reclaimer_config {
	struct app_config app;
	struct http_config http;
	struct redis_config redis;
	struct clickhouse_config clickhouse;
	struct links_config links;
	struct reclaimer_settings reclaimer;
	/* Values of the redirector's and the collector's sections. */
	struct quarantine_bounds bounds;
};

extern const struct setting_group reclaimer_groups[];
extern const size_t reclaimer_group_count;

/* For app_spec: checks that need more than one setting. */
int reclaimer_config_validate(const void *config, struct error *err);

#endif
