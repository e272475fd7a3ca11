/* Each response of ClickHouse is lost once while an hour or a day is settled:
 * the settler reports a failure, what is published is complete, and the next
 * attempt has the same result as one without a fault. */
#include "tests/unit/aggregator/settled.h"
#include "tests/unit/lost_answers.h"

#include <pthread.h>

#include "aggregator/settle/day_settlement.h"
#include "aggregator/settle/hour_settlement.h"

struct scenario {
	void (*prepare)(struct settled *t);
	int (*settle)(struct settled *t, struct error *err);
	const char *before, *result; /* results of state_of */
	int requests; /* requests of an attempt without a fault */
};

/* Returns the kinds of published rows, and the figures of the last attempt. */
static const char *state_of(struct settled *t)
{
	return clickhouse_server_ask(
		&t->server,
		"SELECT (SELECT arrayStringConcat(arraySort(groupUniqArray("
		"toString(kind))), ' ') FROM settled), (SELECT concat("
		"toString(sum(events)), ' ', toString(sum(bots))) FROM "
		"stats_hourly WHERE dimension = 'total' AND attempt = (SELECT "
		"max(attempt) FROM settled WHERE kind = 'hour')), (SELECT "
		"concat(toString(sum(clicks)), ' ', toString(sum(bots))) FROM "
		"link_slots WHERE attempt = (SELECT max(attempt) FROM settled "
		"WHERE kind = 'link_day')), (SELECT sum(pv) FROM link_days "
		"WHERE attempt = (SELECT max(attempt) FROM settled WHERE kind "
		"= 'link_day'))");
}

static void assert_state(struct settled *t, const char *one, const char *other,
			 int at)
{
	const char *state = state_of(t);

	if (strcmp(state, one) && strcmp(state, other))
		fail_msg("after request %d: %s", at, state);
}

static int settle_hour_of(struct settled *t, uint64_t blocks, uint64_t rows,
			  struct error *err)
{
	const struct stale hour = {
		.start = START, .blocks = blocks, .rows = rows};
	struct settle_count n;

	return hours_settle(&t->s, &hour, 1, INT64_MAX, NULL, &t->last, &n,
			    err);
}

static int settle_hour(struct settled *t, struct error *err)
{
	return settle_hour_of(t, 3, 12, err);
}

/* For this hour ingest_progress has no rows. */
static int settle_unreported_hour(struct settled *t, struct error *err)
{
	return settle_hour_of(t, 0, 0, err);
}

static int settle_day(struct settled *t, struct error *err)
{
	const struct stale day = {.start = START, .blocks = 3, .rows = 12};
	struct settle_count n;

	return days_settle(&t->s, &day, &t->last, &n, err);
}

static void assert_turn_is_free(struct settled *t)
{
	assert_int_equal(pthread_mutex_trylock(t->s.turn), 0);
	pthread_mutex_unlock(t->s.turn);
}

/* Returns whether there was a request number `at`. */
static bool lose_one(void **state, const struct scenario *s, enum fault how,
		     int at)
{
	pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	struct settled *t;
	struct error err = {0};
	bool came;
	int status;

	settled_end(state);
	settled_begin(state);
	t = *state;
	t->s.turn = &turn;
	s->prepare(t);
	assert_string_equal(state_of(t), s->before);
	lost.in = at;
	lost.how = how;
	status = s->settle(t, &err);
	came = lost.in == 0;
	lost.in = 0;
	if (status != (came ? -1 : 0))
		fail_msg("request %d: %s", at, status ? err.text : "no error");
	assert_turn_is_free(t);
	assert_state(t, came ? s->before : s->result, s->result, at);
	if (came && s->settle(t, &err) < 0)
		fail_msg("after request %d: %s", at, err.text);
	assert_turn_is_free(t);
	assert_state(t, s->result, s->result, at);
	return came;
}

static void lose_each(void **state, const struct scenario *s, enum fault how)
{
	int at = 1;

	while (lose_one(state, s, how, at))
		at++;
	assert_int_equal(at - 1, s->requests);
}

static void insert_twelve(struct settled *t)
{
	settled_insert_some(t, START, 9);
	settled_insert(t, (struct clicks){START * CLOCK_SECOND + 900000, 3, 2,
					  "redirected", "bot", 1, 1});
}

static void an_hour(void **state)
{
	const struct scenario s = {insert_twelve, settle_hour, "\t0 0\t0 0\t0",
				   "hour\t12 3\t0 0\t0", 10};

	lose_each(state, &s, NOT_SENT);
	lose_each(state, &s, LOST);
}

/* Three rows fewer are there than were counted before, and one row is being
 * taken back. */
static void insert_fewer(struct settled *t)
{
	settled_insert_some(t, START, 9);
	settled_publish_hour(t, START, 5, 12);
	settled_take_back(t, "a", "undo", 0, START, 1);
}

static void an_hour_that_lacks_rows(void **state)
{
	const struct scenario s = {insert_fewer, settle_unreported_hour,
				   "hour\t12 0\t0 0\t0",
				   "held_hour hour\t12 0\t0 0\t0", 11};

	lose_each(state, &s, NOT_SENT);
}

static void insert_day(struct settled *t)
{
	insert_twelve(t);
	settled_publish_hour(t, START, 5, 12);
}

static void a_day(void **state)
{
	const struct scenario s = {insert_day, settle_day, "hour\t12 0\t0 0\t0",
				   "hour link_day\t12 0\t12 3\t12", 9};

	lose_each(state, &s, NOT_SENT);
	lose_each(state, &s, LOST);
}

static void a_day_that_lacks_rows(void **state)
{
	const struct scenario s = {insert_fewer, settle_day,
				   "hour\t12 0\t0 0\t0",
				   "held_day hour\t12 0\t0 0\t0", 4};

	lose_each(state, &s, NOT_SENT);
}

/* Fifteen clicks of the hour were published, and three of their rows are
 * deleted. */
static void lose_published_rows(struct settled *t)
{
	struct error err = {0};

	settled_insert_some(t, START, 15);
	settled_publish_hour(t, START, 5, 15);
	if (settle_day(t, &err) < 0)
		fail_msg("%s", err.text);
	clickhouse_server_do(&t->server,
			     "ALTER TABLE clicks DELETE WHERE offset < 3 "
			     "SETTINGS mutations_sync = 1");
	settled_publish_hour(t, START, 6, 12);
}

static void a_day_of_fewer_than_were_published(void **state)
{
	const struct scenario s = {lose_published_rows, settle_day,
				   "hour link_day\t12 0\t15 0\t15",
				   "held_day hour link_day\t12 0\t15 0\t15",
				   10};

	lose_each(state, &s, NOT_SENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(an_hour),
		SETTLED_TEST(an_hour_that_lacks_rows),
		SETTLED_TEST(a_day),
		SETTLED_TEST(a_day_that_lacks_rows),
		SETTLED_TEST(a_day_of_fewer_than_were_published),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
