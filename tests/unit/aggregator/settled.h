/*
 * settled.h - settling with a real engine, statement by statement.  The settler
 * checks between its statements whether it has to stop and whether it holds the
 * lease; a test can act at these checks.
 */
#ifndef TESTS_UNIT_AGGREGATOR_SETTLED_H
#define TESTS_UNIT_AGGREGATOR_SETTLED_H

#include "tests/unit/clickhouse_server.h"

#include <inttypes.h>

#include "aggregator/migrate/migrations.h"
#include "aggregator/migrate/statement.h"
#include "aggregator/settle/settling.h"
#include "common/clock.h"

#define HOUR 3600
#define DAY  86400
/* 2026-10-24, and its first hour; rows of hours are inserted for that day. */
#define START INT64_C(1792800000)
#define KEEP  (15 * CLOCK_MINUTE)

struct settled {
	struct clickhouse_server server;
	struct settling s;
	struct aggregator_settings settings;
	struct progress last;
	uint64_t next_offset;
	const char *account, *owner; /* those of inserted clicks */
	/* Each of these is called once, at the stopping_at-th or lease_at-th
	 * check from now on; 0: never. */
	void (*on_stopping)(struct settled *t), (*on_lease)(struct settled *t);
	int stopping_at, lease_at;
	bool stops, lost; /* results of the checks */
	/* The settler reported this many. */
	int shortages, repeats;
	struct shortage shortage; /* the last */
	struct stale_list list;	  /* the last answer of progress.h */
};

static inline bool settled_is_stopping(void *arg)
{
	struct settled *t = arg;

	if (t->stopping_at && !--t->stopping_at && t->on_stopping)
		t->on_stopping(t);
	return t->stops && !t->stopping_at;
}

static inline int settled_check_lease(void *arg, struct error *err)
{
	struct settled *t = arg;

	if (t->lease_at && !--t->lease_at && t->on_lease)
		t->on_lease(t);
	return t->lost && !t->lease_at
		       ? error_set_retriable(err, ERROR_STOPPED, "lost")
		       : 0;
}

static inline void settled_on_shortage(void *arg, const struct shortage *what)
{
	struct settled *t = arg;

	t->shortages++;
	t->shortage = *what;
}

struct repeats_removed;
static inline void settled_on_repeats(void *arg,
				      const struct repeats_removed *removed)
{
	struct settled *t = arg;

	(void)removed;
	t->repeats++;
}

static inline void settled_make_tables(struct clickhouse_server *server)
{
	for (size_t i = 0; i < migration_count; i++) {
		const char *sql = migrations[i].sql;
		struct buf statement = {0};

		while (statement_next(&sql, &statement)) {
			struct error err = {0};

			if (clickhouse_query(server->ch, buf_cstr(&statement),
					     NULL, NULL, &err) < 0)
				fail_msg("%s: %s", migrations[i].name,
					 err.text);
			buf_reset(&statement);
		}
		buf_free(&statement);
	}
}

static inline int settled_open(void **state)
{
	struct settled *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	clickhouse_server_start(&t->server);
	settled_make_tables(&t->server);
	*state = t;
	return 0;
}

static inline int settled_close(void **state)
{
	struct settled *t = *state;

	clickhouse_server_stop(&t->server);
	free(t);
	return 0;
}

/* Empties all tables except those that the migrations filled. */
static inline void settled_empty_tables(struct clickhouse_server *server)
{
	char names[4096], *rest = names, *name;

	snprintf(names, sizeof(names), "%s",
		 clickhouse_server_ask(server,
				       "SELECT name FROM system.tables WHERE "
				       "database = currentDatabase() AND "
				       "total_rows > 0 AND engine LIKE "
				       "'%%MergeTree' AND name != "
				       "'schema_migrations'"));
	while ((name = strsep(&rest, "\n")) && *name)
		clickhouse_server_do(server, "TRUNCATE TABLE %s", name);
}

/* Each test begins with a session of its own and empty tables. */
static inline int settled_begin(void **state)
{
	struct settled *t = *state;
	struct error err = {0};

	settled_empty_tables(&t->server);
	t->settings = (struct aggregator_settings){
		.keep_superseded = KEEP,
		.settle_timeout = CLOCK_MINUTE,
		.settle_every = CLOCK_SECOND,
		.resettle_every = 0,
		.values_max = 1000,
		.clicks.late_window = CLOCK_DAY,
	};
	t->s = (struct settling){
		.settings = &t->settings,
		.settler = "a tester",
		.is_stopping = settled_is_stopping,
		.check_lease = settled_check_lease,
		.on_shortage = settled_on_shortage,
		.on_repeats = settled_on_repeats,
		.arg = t,
	};
	t->s.ch = clickhouse_new(&t->server.config, &err);
	assert_non_null(t->s.ch);
	assert_int_equal(settling_read_clock(t->s.ch, &t->s.clock, &err), 0);
	t->last = (struct progress){
		.read_until = 1792900000123,
		.complete_until = 1792890000456,
		.attempt = 7,
		.asked_at = clock_monotonic_ms(),
	};
	t->next_offset = 0;
	t->account = "acme";
	t->owner = "ann";
	t->on_stopping = t->on_lease = NULL;
	t->stopping_at = t->lease_at = 0;
	t->stops = t->lost = false;
	t->shortages = t->repeats = 0;
	return 0;
}

static inline int settled_end(void **state)
{
	struct settled *t = *state;

	stale_list_release(&t->list);
	clickhouse_free(t->s.ch);
	return 0;
}

struct clicks {
	int64_t at_ms;
	unsigned count, link;
	const char *outcome, *verdict;
	unsigned visitors, ips; /* among these clicks, for each verdict */
};

/* Inserts the clicks that the collector stores next, all at one time. */
static inline void settled_insert(struct settled *t, struct clicks c)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks (epoch, topic, partition, offset, "
		"append_time, event_id, ts, original_ts, link_id, code, "
		"outcome, verdict, account, owner, ip, unique_identity) SELECT "
		"1, "
		"'clicks', 0, number + %" PRIu64
		", now64(3), generateUUIDv4(), "
		"fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC') AS t, t, %u, 'c', '%s', '%s' AS v, '%s', '%s', "
		"toIPv6(concat('10.', toString(length(v)), '.0.', "
		"toString(number %% %u))), concat(v, toString(number %% %u)) "
		"FROM numbers(%u)",
		t->next_offset, c.at_ms, c.link, c.outcome, c.verdict,
		t->account, t->owner, c.ips ? c.ips : 1,
		c.visitors ? c.visitors : 1, c.count);
	t->next_offset += c.count;
}

/* Inserts `count` clicks by people through link 1. */
static inline void settled_insert_some(struct settled *t, int64_t at,
				       unsigned count)
{
	settled_insert(t, (struct clicks){at * CLOCK_SECOND, count, 1,
					  "redirected", "human", count, 1});
}

/* Publishes an hour with that many events. */
static inline void settled_publish_hour(struct settled *t, int64_t start,
					uint64_t attempt, unsigned events)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO stats_hourly (dimension, hour, attempt, slot, "
		"events) SELECT arrayJoin(['total', 'verdict']), %" PRId64
		", %" PRIu64 ", %" PRId64 ", %u",
		start, attempt, start, events);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO settled (kind, unit, attempt, blocks, "
		"rows) VALUES ('hour', %" PRId64 ", %" PRIu64 ", 1, %u)",
		start, attempt, events);
}

/* Import `epoch` of a log is taken back at that time (ms): `what` is "undo"
 * before the rows of an hour are deleted, "taken" when they are deleted. */
static inline void settled_take_back_import(struct settled *t, const char *log,
					    unsigned epoch, const char *what,
					    int64_t at_ms, int64_t hour,
					    unsigned rows)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO import_journal (identity, epoch, what, head, at) "
		"VALUES ('%s', %u, '%s', [%" PRId64
		", %u], fromUnixTimestamp64Milli(toInt64(%" PRId64 "), 'UTC'))",
		log, epoch, what, hour, rows, at_ms);
}

/* The same for a log that was imported once. */
static inline void settled_take_back(struct settled *t, const char *log,
				     const char *what, int64_t at_ms,
				     int64_t hour, unsigned rows)
{
	settled_take_back_import(t, log, 1, what, at_ms, hour, rows);
}

/* Drops a day under that number. */
static inline void settled_drop(struct settled *t, int64_t day, uint64_t number)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO settled (kind, unit, attempt) VALUES "
			     "('dropped_day', %" PRId64 ", %" PRIu64 ")",
			     day, number);
}

/* --- actions between two statements, and a test --------------------------- */

static inline void settled_rows_come(struct settled *t)
{
	settled_insert_some(t, START, 2);
}

static inline void settled_time_passes(struct settled *t)
{
	t->s.clock.server_ms += KEEP;
}

static inline void settled_drop_its_day(struct settled *t)
{
	settled_drop(t, START, 5);
}

static inline void settled_drop_another_day(struct settled *t)
{
	settled_drop(t, START - DAY, 6);
	settled_drop(t, START + DAY, 6);
}

#define SETTLED_TEST(f)                                                        \
	cmocka_unit_test_setup_teardown(f, settled_begin, settled_end)

#endif
