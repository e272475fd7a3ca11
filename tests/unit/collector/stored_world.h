/*
 * stored_world.h - a real ClickHouse with rows, reports and epochs of a
 * partition (number 3, epoch 2).
 */
#ifndef TESTS_UNIT_COLLECTOR_STORED_WORLD_H
#define TESTS_UNIT_COLLECTOR_STORED_WORLD_H

#include "tests/unit/clickhouse_server.h"

#include "collector/exactly_once/facts.h"
#include "collector/exactly_once/gap.h"
#include "collector/exactly_once/passes.h"
#include "collector/exactly_once/stored.h"

enum {
	HOUR_MS = 3600000
};

static inline int stored_world_set_up(void **state)
{
	struct clickhouse_server *s = malloc(sizeof(*s));

	clickhouse_server_start(s);
	clickhouse_server_migrate(s);
	*state = s;
	return 0;
}

static inline int stored_world_tear_down(void **state)
{
	clickhouse_server_stop(*state);
	free(*state);
	return 0;
}

static inline struct stored_key clicks_of(const char *topic)
{
	return (struct stored_key){"clicks", topic, 3, 2};
}

/* "partition, epoch, 'decision', next, gap" */
static inline void store_decision(struct clickhouse_server *s,
				  const char *topic, const char *values)
{
	clickhouse_server_do(s,
			     "INSERT INTO ingest_epochs (topic, partition, "
			     "epoch, decision, next, gap) VALUES ('%s', %s)",
			     topic, values);
}

/* A row of ingest_progress, stored this many seconds ago, with an event that
 * came this many seconds ago. */
struct told {
	uint64_t first, last, rows, dead, lost;
	int inserted, appended;
};

static inline void tell_of(struct clickhouse_server *s, const char *topic,
			   unsigned epoch, unsigned partition,
			   unsigned partitions, struct told t)
{
	clickhouse_server_do(
		s,
		"INSERT INTO ingest_progress (epoch, topic, partition, "
		"partitions, first, last, rows, dead_lettered, lost, "
		"append_time, inserted_at) SELECT %u, '%s', %u, %u, "
		"toUInt64('%llu'), toUInt64('%llu'), %llu, %llu, %llu, "
		"now64(3, 'UTC') - INTERVAL %d SECOND, "
		"now64(3, 'UTC') - INTERVAL %d SECOND",
		epoch, topic, partition, partitions,
		(unsigned long long)t.first, (unsigned long long)t.last,
		(unsigned long long)t.rows, (unsigned long long)t.dead,
		(unsigned long long)t.lost, t.appended, t.inserted);
}

static inline void store_report(struct clickhouse_server *s, const char *topic,
				struct told t)
{
	tell_of(s, topic, 2, 3, 4, t);
}

/* Rows of clicks from `first` up to `last`: the hour is the offset / 10, and
 * they came one second after each other. */
static inline void store_clicks(struct clickhouse_server *s, const char *topic,
				unsigned epoch, unsigned partition,
				uint64_t first, uint64_t last)
{
	clickhouse_server_do(
		s,
		"INSERT INTO clicks (epoch, topic, partition, offset, "
		"append_time, ts) SELECT %u, '%s', %u, number, "
		"fromUnixTimestamp64Milli(toInt64(1000 * number), 'UTC'), "
		"fromUnixTimestamp64Milli(toInt64(intDiv(number, 10) * %d + "
		"%d - 1), 'UTC') FROM numbers(%llu, %llu)",
		epoch, topic, partition, HOUR_MS, HOUR_MS,
		(unsigned long long)first,
		(unsigned long long)(last - first + 1));
}

static inline void assert_ranges(struct ranges *r, const char *expected)
{
	struct buf text = {0};

	for (size_t i = 0; i < r->count; i++)
		buf_printf(&text, "%llu-%llu ",
			   (unsigned long long)r->items[i].first,
			   (unsigned long long)r->items[i].last);
	assert_string_equal(buf_cstr(&text) ? text.data : "", expected);
	buf_free(&text);
	ranges_release(r);
}

#endif
