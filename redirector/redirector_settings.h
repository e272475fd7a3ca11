/* redirector_settings.h - section `redirector` of the configuration. */
#ifndef REDIRECTOR_REDIRECTOR_SETTINGS_H
#define REDIRECTOR_REDIRECTOR_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/setting.h"
#include "common/error.h"

struct redirector_settings {
	char *listen;
	char *admin;
	int64_t threads; /* 0: one per processor the process may use */
	char *edge;	 /* NULL: the host's name */
	struct setting_strings trusted_proxies;
	char *client_header;
	char *fallback_url;    /* of `/`; NULL: 404 */
	bool fallback_unknown; /* also of codes that have no link */
	char *unknown_hosts;   /* "default", "refuse" */
	/* The cache; sizes over all threads. */
	int64_t cache_size;
	int64_t cache_ttl;
	int64_t cache_negative_ttl;
	int64_t cache_stale;
	int64_t cursor_every;
	/* Answers. */
	int64_t permanent_max_age;
	int64_t retry_after;
	/* Events, in bytes. */
	int64_t max_user_agent;
	int64_t max_referrer;
	int64_t max_accept_language;
	int64_t max_query;
	char *compression;
	int64_t linger;
	int64_t delivery_timeout;
	int64_t drain_timeout;
};

extern const struct setting_section redirector_section;

/* What the table cannot say: networks, URLs, times that depend on others. */
int redirector_settings_check(const struct redirector_settings *settings,
			      struct error *err);

#endif
