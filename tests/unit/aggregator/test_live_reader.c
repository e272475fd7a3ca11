/* The topic of clicks is read only while there are listeners. */
#include "tests/unit/aggregator/live_reader_world.h"

#include <dlfcn.h>

enum {
	RETRY_MS = 1000, /* time until the brokers are queried again */
	PILE = 600,	 /* records; more than two turns read */
	TRIES = 100,
};

static struct live_listener all = {.audience = SEES_ALL};

/* --- librdkafka, observed ------------------------------------------------- */

static atomic_bool brokers_fail; /* whether queries about the topic fail */
static atomic_int failures;
static _Atomic int64_t failed_at;
static _Atomic int64_t shortest_pause; /* ms, since a failure */

rd_kafka_resp_err_t rd_kafka_metadata(rd_kafka_t *rk, int all_topics,
				      rd_kafka_topic_t *only,
				      const struct rd_kafka_metadata **ret,
				      int timeout_ms)
{
	void *found = dlsym(RTLD_NEXT, "rd_kafka_metadata");
	rd_kafka_resp_err_t (*real)(rd_kafka_t *, int, rd_kafka_topic_t *,
				    const struct rd_kafka_metadata **, int);
	int64_t now = clock_monotonic_ms();

	if (failures && now - failed_at < shortest_pause)
		shortest_pause = now - failed_at;
	if (brokers_fail) {
		failed_at = now;
		failures++;
		return RD_KAFKA_RESP_ERR__TRANSPORT;
	}
	memcpy(&real, &found, sizeof(real));
	return real(rk, all_topics, only, ret, timeout_ms);
}

static atomic_int closings; /* how often reading was ended */

rd_kafka_resp_err_t rd_kafka_assign(rd_kafka_t *rk,
				    const rd_kafka_topic_partition_list_t *list)
{
	void *found = dlsym(RTLD_NEXT, "rd_kafka_assign");
	rd_kafka_resp_err_t (*real)(rd_kafka_t *,
				    const rd_kafka_topic_partition_list_t *);

	if (!list)
		closings++;
	memcpy(&real, &found, sizeof(real));
	return real(rk, list);
}

static int set_up(void **state)
{
	static struct clickhouse_config archive;

	brokers_fail = false;
	failures = 0;
	shortest_pause = INT64_MAX;
	closings = 0;
	configure_no_archive(&archive);
	*state = start_reader(&archive);
	return 0;
}

/* --- reading -------------------------------------------------------------- */

static void a_listener_who_sees_all_is_told_each_click(void **state)
{
	struct world *w = *state;

	join_reader(w, &all);
	produce_click(w, 1, "ann");
	EVENTUALLY(w->told[SEES_ALL] == 1);
	/* The archive does not have the link. */
	produce_click(w, 99, "dan");
	EVENTUALLY(w->told[SEES_ALL] == 2);
	assert_int_equal(w->last[SEES_ALL], 99);
	assert_int_equal(w->ready, 1);
	assert_int_equal(w->told[SEES_SOME], 0);
}

static void a_record_that_is_no_click_is_counted_and_passed_over(void **state)
{
	struct world *w = *state;

	join_reader(w, &all);
	produce_records(w, "{}", 2);
	produce_click(w, 1, "ann");
	EVENTUALLY(w->told[SEES_ALL] == 1);
	assert_int_equal(metric_value(w->rejected), 2);
}

static void nothing_is_read_while_nobody_listens(void **state)
{
	struct world *w = *state;

	join_reader(w, &all);
	produce_click(w, 1, "ann");
	EVENTUALLY(w->told[SEES_ALL] == 1);
	live_reader_leave(w->reader, &all);
	EVENTUALLY(!live_reader_is_ready(w->reader));
	EVENTUALLY(closings);
	produce_click(w, 2, "bob");
	join_reader(w, &all);
	EVENTUALLY(w->ready == 2);
	produce_click(w, 3, "cy");
	EVENTUALLY(w->last[SEES_ALL] == 3);
	assert_int_equal(w->told[SEES_ALL], 2);
}

static void the_topic_is_read_as_long_as_one_listens(void **state)
{
	struct live_listener another = {.audience = SEES_ALL};
	struct world *w = *state;

	join_reader(w, &all);
	join_reader(w, &another);
	live_reader_leave(w->reader, &all);
	for (int i = 1; i <= 2; i++) {
		produce_click(w, 1, "ann");
		EVENTUALLY(w->told[SEES_ALL] == i);
	}
	assert_int_equal(closings, 0);
	assert_int_equal(w->ready, 1);
	live_reader_leave(w->reader, &another);
	EVENTUALLY(!live_reader_is_ready(w->reader));
}

static void the_lag_is_told_while_clicks_are_read(void **state)
{
	struct world *w = *state;
	int sent = 0;

	join_reader(w, &all);
	for (int i = 0; !w->longest_lag && i < TRIES; i++) {
		click_some(w, 1, "ann", PILE);
		sent += PILE;
		EVENTUALLY(w->told[SEES_ALL] == sent);
	}
	assert_true(w->longest_lag > 0);
	EVENTUALLY(lag_of(w) == 0);
}

static void what_is_not_read_is_no_lag(void **state)
{
	struct world *w = *state;
	int told;

	join_reader(w, &all);
	w->leaves = &all;
	click_some(w, 1, "ann", PILE);
	EVENTUALLY(!live_reader_is_ready(w->reader));
	EVENTUALLY(lag_of(w) == 0);
	told = w->told[SEES_ALL];
	/* The listener left after the first click, so the rest was not read. */
	assert_in_range(told, 1, PILE - 1);
}

/* --- brokers that do not answer ------------------------------------------- */

static void brokers_that_do_not_answer_are_asked_again_later(void **state)
{
	struct world *w = *state;

	brokers_fail = true;
	live_reader_join(w->reader, &all);
	EVENTUALLY(failures >= 2);
	assert_false(live_reader_is_ready(w->reader));
	assert_int_equal(w->ready, 0);
	brokers_fail = false;
	EVENTUALLY(w->ready == 1);
	assert_in_range(shortest_pause, RETRY_MS, AWAIT_MS);
	produce_click(w, 1, "ann");
	EVENTUALLY(w->told[SEES_ALL] == 1);
}

#define READER_TEST(f)                                                         \
	cmocka_unit_test_setup_teardown(f, set_up, tear_down_reader)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READER_TEST(a_listener_who_sees_all_is_told_each_click),
		READER_TEST(
			a_record_that_is_no_click_is_counted_and_passed_over),
		READER_TEST(nothing_is_read_while_nobody_listens),
		READER_TEST(the_topic_is_read_as_long_as_one_listens),
		READER_TEST(the_lag_is_told_while_clicks_are_read),
		READER_TEST(what_is_not_read_is_no_lag),
		READER_TEST(brokers_that_do_not_answer_are_asked_again_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
