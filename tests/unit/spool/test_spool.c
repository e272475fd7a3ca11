/* Order, acknowledgement and limits. */
#include "tests/unit/spool/spool_world.h"

static void records_come_back_in_order_over_many_segments(void **state)
{
	struct world *w = *state;
	uint64_t first;

	w->options.segment_bytes = 1000;
	reopen_spool(w);
	append_events(w, 0, 300);
	assert_true(segment_count(w, &first) > 10);
	read_events(w, 0, 300, false);
	is_read_to_the_end(w, 0);
}

static void what_is_appended_while_it_is_read_comes_behind(void **state)
{
	struct world *w = *state;

	w->options.segment_bytes = 500;
	reopen_spool(w);
	for (uint64_t i = 0; i < 100; i += 4) {
		append_events(w, i, 4);
		read_events(w, i, 4, false);
		is_read_to_the_end(w, 0);
	}
}

static void segments_go_when_their_records_are_done_with(void **state)
{
	struct world *w = *state;
	uint64_t first;
	size_t count;

	w->options.segment_bytes = 1000;
	reopen_spool(w);
	append_events(w, 0, 100);
	read_events(w, 0, 50, false);
	count = segment_count(w, &first);
	acknowledge_all(w);
	assert_true(segment_count(w, &first) < count);
	assert_true(first <= spool_next_number(w->spool));
	assert_int_equal(read_usage(w).records, 50);
	read_events(w, 50, 50, false);
	acknowledge_all(w);
	assert_int_equal(segment_count(w, &first), 0);
	assert_int_equal(read_usage(w).records, 0);
	assert_int_equal(read_usage(w).bytes, 0);
}

static void an_empty_spool_goes_on_with_higher_numbers(void **state)
{
	struct world *w = *state;
	uint64_t number;

	append_events(w, 0, 3);
	read_events(w, 0, 3, false);
	acknowledge_all(w);
	number = spool_next_number(w->spool);
	reopen_spool(w);
	is_read_to_the_end(w, 0);
	append_events(w, 3, 1);
	assert_int_equal(next_record(w, 0).number, number);
}

static void usage_tells_records_bytes_and_the_next_ones_time(void **state)
{
	struct world *w = *state;

	assert_int_equal(read_usage(w).next_ms, 0);
	append_events(w, 17, 2);
	assert_int_equal(read_usage(w).records, 2);
	assert_int_equal(read_usage(w).bytes,
			 SEGMENT_HEADER_SIZE + 2 * (SPOOL_HEADER_SIZE + 8));
	assert_int_equal(read_usage(w).next_ms, 17);
	read_events(w, 17, 1, false);
	assert_int_equal(read_usage(w).next_ms, 18);
}

static void it_takes_so_many_bytes_and_no_more(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	size_t taken;

	w->options.max_bytes = 4096;
	w->options.segment_bytes = 1024;
	reopen_spool(w);
	taken = try_append(w, 0, 1000, &err);
	assert_int_equal(err.code, ERROR_FULL);
	assert_true(taken > 50 && taken < 100);
	assert_true(read_usage(w).bytes <= 4096);
	read_events(w, 0, taken, false);
	is_read_to_the_end(w, 0);
	/* Acknowledged records free their room. */
	acknowledge_all(w);
	append_events(w, taken, 10);
	read_events(w, taken, 10, false);
}

static void its_last_byte_is_used(void **state)
{
	struct world *w = *state;
	struct spool_record records[3] = {{.data = "x", .len = 1},
					  {.data = "x", .len = 1},
					  {.data = "x", .len = 1}};
	struct error err;
	size_t appended;

	w->options.max_bytes =
		SEGMENT_HEADER_SIZE + 2 * (SPOOL_HEADER_SIZE + 1);
	reopen_spool(w);
	assert_int_equal(spool_append(w->spool, records, 3, &appended, &err),
			 -1);
	assert_int_equal(appended, 2);
	assert_int_equal(read_usage(w).bytes, w->options.max_bytes);
}

static void some_of_a_call_may_be_appended(void **state)
{
	struct world *w = *state;
	struct spool_record records[100];
	struct error err;
	size_t appended;

	w->options.max_bytes = 1024;
	reopen_spool(w);
	for (size_t i = 0; i < 100; i++)
		records[i] =
			(struct spool_record){0, (int64_t)i, false, "x", 1};
	assert_int_equal(spool_append(w->spool, records, 100, &appended, &err),
			 -1);
	assert_int_equal(err.code, ERROR_FULL);
	assert_int_equal(appended, (1024 - SEGMENT_HEADER_SIZE) /
					   (SPOOL_HEADER_SIZE + 1));
	for (size_t i = 0; i < appended; i++)
		assert_int_equal(next_record(w, 0).time_ms, i);
	is_read_to_the_end(w, 0);
}

static void another_process_is_refused(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	char want[64];

	/* flock is per open file, so the same process is as good as another. */
	assert_null(spool_open(&w->options, &err));
	assert_int_equal(err.code, ERROR_BUSY);
	snprintf(want, sizeof(want), "in use by process %d", (int)getpid());
	assert_non_null(strstr(err.text, want));
	assert_non_null(strstr(err.text, w->dir));
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
	const struct spool_options options = {"/proc/nowhere/spool", 1 << 20,
					      0};
	struct error err = {0};

	(void)state;
	assert_null(spool_open(&options, &err));
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_non_null(strstr(err.text, "spool /proc/nowhere/spool: cannot "
					 "make it"));
}

static void what_is_done_with_stays_so(void **state)
{
	struct world *w = *state;

	append_events(w, 0, 4);
	read_events(w, 0, 3, false);
	acknowledge_all(w);
	spool_acknowledge(w->spool, 1);
	assert_int_equal(read_usage(w).records, 1);
	reopen_spool(w);
	read_events(w, 3, 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPOOL_TEST(records_come_back_in_order_over_many_segments),
		SPOOL_TEST(what_is_appended_while_it_is_read_comes_behind),
		SPOOL_TEST(segments_go_when_their_records_are_done_with),
		SPOOL_TEST(an_empty_spool_goes_on_with_higher_numbers),
		SPOOL_TEST(usage_tells_records_bytes_and_the_next_ones_time),
		SPOOL_TEST(it_takes_so_many_bytes_and_no_more),
		SPOOL_TEST(its_last_byte_is_used),
		SPOOL_TEST(some_of_a_call_may_be_appended),
		SPOOL_TEST(another_process_is_refused),
		SPOOL_TEST(a_folder_that_cannot_be_made_is_named),
		SPOOL_TEST(what_is_done_with_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
