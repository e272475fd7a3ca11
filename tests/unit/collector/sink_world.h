/*
 * sink_world.h - a real ClickHouse with the tables, and a sink for it.
 */
#ifndef TESTS_UNIT_COLLECTOR_SINK_WORLD_H
#define TESTS_UNIT_COLLECTOR_SINK_WORLD_H

#include "tests/unit/clickhouse_server.h"

#include "collector/exactly_once/sink.h"

struct sink_world {
	struct clickhouse_server server;
	struct sink *sink;
};

static inline int sink_world_set_up(void **state)
{
	struct sink_world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	assert_non_null(w);
	clickhouse_server_start(&w->server);
	clickhouse_server_migrate(&w->server);
	w->sink = sink_new(&w->server.config, &err);
	assert_non_null(w->sink);
	*state = w;
	return 0;
}

static inline int sink_world_tear_down(void **state)
{
	struct sink_world *w = *state;

	sink_free(w->sink);
	clickhouse_server_stop(&w->server);
	free(w);
	return 0;
}

#endif
