/*
 * asked_sql.h - runs statements of the API on a real engine: clicks of some
 * hours and days, and answers in an order of the test's own.
 */
#ifndef TESTS_UNIT_AGGREGATOR_ASKED_SQL_H
#define TESTS_UNIT_AGGREGATOR_ASKED_SQL_H

#include "tests/unit/aggregator/settled.h"

#include "aggregator/api/statistics/question.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/zone/buckets.h"

/* Questions are about two hours; the hour before and the hour after have
 * clicks, too. */
#define FROM (START + HOUR)
#define TO   (START + 3 * HOUR)

static const struct clicks all[] = {
	{FROM * CLOCK_SECOND - 1, 100, 1, "redirected", "human", 90, 80},
	{FROM * CLOCK_SECOND, 5, 1, "redirected", "human", 3, 2},
	{FROM * CLOCK_SECOND + 1, 4, 1, "redirected", "bot", 4, 1},
	{FROM * CLOCK_SECOND + 2, 2, 2, "redirected", "prefetch", 1, 1},
	{FROM * CLOCK_SECOND + 3, 1, 0, "not_found", "human", 1, 1},
	{(FROM + HOUR) * CLOCK_SECOND - 1, 7, 2, "redirected", "human", 7, 5},
	{(FROM + HOUR) * CLOCK_SECOND, 1, 1, "redirected", "bot", 1, 1},
	{TO * CLOCK_SECOND - 1, 3, 2, "redirected", "human", 3, 3},
	{TO * CLOCK_SECOND, 200, 1, "redirected", "human", 70, 60},
};

/* Two of the links are bob's, the others are ann's. */
static inline bool is_bobs(size_t i)
{
	return i == 2 || i == 5;
}

/* --- questions --------------------------------------------------------------
 */

/* Arrays of days, hours and their attempts; other parameters are fixed. */
struct lists {
	const char *days, *attempts, *hours, *hour_attempts, *value_attempts;
	const char *accounts, *owners; /* default: acme, ann; "": any owner */
	const char *account, *owner;   /* the caller's; NULL: any */
	uint64_t attempt;	       /* 0: all */
	size_t limit;
	int64_t start;
};

/* Runs the statement and sorts the rows of the answer. */
static inline const char *ask_sorted(struct settled *t,
				     const struct question *q, struct buf *sql,
				     const struct lists *lists)
{
	static char text[8192];
	char from[24], to[24], attempt[24], limit[24], start[24];
	const struct clickhouse_param params[] = {
		{"param_from", from},
		{"param_to", to},
		{"param_link_id", "1"},
		{"param_attempt", attempt},
		{"param_limit", limit},
		{"param_start", start},
		{"param_days", lists->days},
		{"param_attempts", lists->attempts},
		{"param_value_days", lists->days},
		{"param_value_attempts", lists->value_attempts
						 ? lists->value_attempts
						 : lists->attempts},
		{"param_hours", lists->hours ? lists->hours : "[]"},
		{"param_hour_attempts",
		 lists->hour_attempts ? lists->hour_attempts : "[]"},
		{"param_bound_accounts",
		 lists->accounts ? lists->accounts : "acme"},
		{"param_bound_owners", lists->owners ? lists->owners : "ann"},
		{"param_any_owner",
		 lists->owners && !*lists->owners ? "true" : "false"},
		{"param_any_account", lists->account ? "false" : "true"},
		{"param_caller_account", lists->account ? lists->account : ""},
		{"param_every_owner", lists->owner ? "false" : "true"},
		{"param_caller_owners", lists->owner ? lists->owner : ""},
		{NULL, NULL}};
	struct buf ordered = {0}, out = {0};
	struct error err = {0};
	char *end;

	snprintf(from, sizeof(from), "%" PRId64, q->from);
	snprintf(to, sizeof(to), "%" PRId64, q->to);
	snprintf(attempt, sizeof(attempt), "%" PRIu64,
		 lists->attempt ? lists->attempt : UINT64_MAX);
	snprintf(limit, sizeof(limit), "%zu", lists->limit ? lists->limit : 9);
	snprintf(start, sizeof(start), "%" PRId64, lists->start);
	end = strstr(buf_cstr(sql), "FORMAT TabSeparated");
	if (end)
		*end = '\0';
	buf_printf(&ordered,
		   "SELECT * FROM (%s) ORDER BY ALL FORMAT TabSeparated",
		   sql->data);
	if (clickhouse_query(t->s.ch, buf_cstr(&ordered), params, &out, &err) <
	    0)
		fail_msg("%s: %s", ordered.data, err.text);
	snprintf(text, sizeof(text), "%.*s", (int)out.len,
		 out.data ? out.data : "");
	buf_free(&ordered);
	buf_free(&out);
	buf_free(sql);
	return text;
}

static struct buckets two_hours = {(int64_t[]){FROM, FROM + HOUR}, 2};
static struct buckets one = {(int64_t[]){FROM}, 1};

static inline struct question question_of(enum bots_mode bots)
{
	return (struct question){.from = FROM, .to = TO, .bots = bots};
}

static const struct lists no_days = {.days = "[]", .attempts = "[]"};

static inline void insert_all(struct settled *t)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		t->owner = is_bobs(i) ? "bob" : "ann";
		settled_insert(t, all[i]);
	}
}

/* Inserts Bob's clicks again, as other events and with one column changed. */
static inline void copy_bobs(struct settled *t, const char *column,
			     const char *value)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (%s AS %s, offset + 10000 "
		"AS "
		"offset, generateUUIDv4() AS event_id) FROM (SELECT * FROM "
		"clicks WHERE owner = 'bob')",
		value, column);
}

/* --- copied days ------------------------------------------------------------
 */

/* The middle day of three is copied under attempt 7; the rows of that day are
 * not read. */
static struct copied_day middle[] = {
	{.start = START + DAY, .attempt = 7, .events = 40}};
static const struct copied_days copied = {.items = middle, .count = 1};

static inline struct lists copied_lists(char days[32])
{
	snprintf(days, 32, "[%" PRId64 "]", START + DAY);
	return (struct lists){.days = days, .attempts = "[7]"};
}

static inline void insert_three_days(struct settled *t)
{
	insert_all(t);
	for (int i = -1; i <= 2; i++)
		settled_insert(
			t, (struct clicks){
				   (START + i * DAY + DAY) * CLOCK_SECOND - 1,
				   i == 1 ? 500 : 6, 1, "redirected", "bot", 2,
				   2});
}

static inline struct question three_days(enum bots_mode bots)
{
	return (struct question){
		.from = START, .to = START + 3 * DAY, .bots = bots};
}

#endif
