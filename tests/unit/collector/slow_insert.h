/*
 * slow_insert.h - another client's insert, which takes half a minute unless it
 * is killed.
 */
#ifndef TESTS_UNIT_COLLECTOR_SLOW_INSERT_H
#define TESTS_UNIT_COLLECTOR_SLOW_INSERT_H

#include "tests/unit/clickhouse_server.h"

#include <pthread.h>

#include "collector/exactly_once/sink.h"

struct slow_insert {
	struct clickhouse *ch;
	char id[SINK_ID_MAX];
	pthread_t thread;
	int status;
};

static inline void *slow_insert_run(void *arg)
{
	struct slow_insert *s = arg;
	struct clickhouse_param params[] = {{"query_id", s->id},
					    {"log_comment", s->id},
					    {"max_block_size", "1"},
					    {"min_insert_block_size_rows", "1"},
					    {NULL, NULL}};
	struct error err = {0};

	s->status = clickhouse_query(
		s->ch,
		"INSERT INTO clicks (topic, offset) SELECT 'slow', number "
		"FROM numbers(600) WHERE NOT ignore(sleepEachRow(0.05))",
		params, NULL, &err);
	return NULL;
}

static inline void slow_insert_start(struct clickhouse_server *server,
				     struct slow_insert *s, const char *table,
				     const char *token)
{
	struct error err = {0};

	memset(s, 0, sizeof(*s));
	s->ch = clickhouse_new(&server->config, &err);
	assert_non_null(s->ch);
	sink_query_id(table, token, s->id);
	assert_int_equal(pthread_create(&s->thread, NULL, slow_insert_run, s),
			 0);
	for (int i = 0; i < 1200; i++) {
		if (clickhouse_server_number(
			    server,
			    "SELECT count() FROM system.processes WHERE "
			    "Settings['log_comment'] = '%s'",
			    s->id))
			return;
		usleep(50000);
	}
	fail_msg("%s does not run", s->id);
}

static inline void slow_insert_end(struct slow_insert *s)
{
	pthread_join(s->thread, NULL);
	clickhouse_free(s->ch);
}

static inline uint64_t slow_inserts_running(struct clickhouse_server *server)
{
	return clickhouse_server_number(
		server, "SELECT count() FROM system.processes WHERE "
			"startsWith(Settings['log_comment'], "
			"'shortloop:')");
}

#endif
