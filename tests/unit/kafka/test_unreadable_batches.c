/* Unreadable batches are skipped, and reported with exactly their offsets. */
#include "tests/unit/kafka/scripted_log.h"

enum {
	ROUNDS = 300,
	TRIES = 4, /* fetches of a batch with a wrong checksum */
};

struct span {
	int64_t first, last;
};

static struct {
	struct span spans[SCRIPTED_BATCHES_MAX];
	size_t count;
	struct kafka_unreadable last;
} reported;

static void note_unreadable(void *arg, const char *topic, int32_t partition,
			    const struct kafka_unreadable *what)
{
	assert_ptr_equal(arg, &reported);
	assert_string_equal(topic, MOCK_KAFKA_TOPIC);
	assert_int_equal(partition, SCRIPTED_PARTITION);
	assert_true(reported.count < SCRIPTED_BATCHES_MAX);
	reported.spans[reported.count++] =
		(struct span){what->first, what->last};
	reported.last = *what;
}

static struct kafka_reader *start_reader(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);

	memset(&reported, 0, sizeof(reported));
	kafka_reader_on_unreadable(r, note_unreadable, &reported);
	return r;
}

static void expect_end(struct kafka_reader *r)
{
	struct kafka_record record;
	struct error err = {0};

	assert_int_equal(kafka_reader_next(r, &record, &err), 0);
	assert_int_equal(kafka_reader_next(r, &record, &err), 0);
}

static void expect_reported(int64_t first, int64_t last)
{
	assert_int_equal(reported.count, 1);
	assert_int_equal(reported.spans[0].first, first);
	assert_int_equal(reported.spans[0].last, last);
}

/* --- random logs -----------------------------------------------------------
 */

/* Makes batches of one to forty offsets, from `first` on. */
static void make_log(int64_t first, bool corrupt)
{
	scripted_clear();
	for (int i = rand() % 8 + 1; i > 0; i--) {
		int64_t last = first + rand() % 40;

		scripted_add((enum batch_kind)(rand() % (corrupt ? 4 : 3)),
			     first, last);
		first = last + 1;
	}
}

static void expect_spans(int64_t from, int64_t end)
{
	size_t count = 0;

	for (size_t i = 0; i < scripted.count; i++) {
		const struct scripted_batch *b = &scripted.batches[i];
		int64_t first = b->first > from ? b->first : from;
		int64_t last = scripted_batch_end(b) - 1;

		last = last < end ? last : end - 1;
		if (b->kind < BATCH_PACKED || first > last)
			continue;
		assert_true(count < reported.count);
		assert_int_equal(reported.spans[count].first, first);
		assert_int_equal(reported.spans[count].last, last);
		count++;
	}
	assert_int_equal(reported.count, count);
}

static void expect_stretch(struct kafka_reader *r, int64_t from, int64_t end)
{
	reported.count = 0;
	scripted_open(r, from, end);
	for (int64_t at = from; at < end && at < scripted.end; at++)
		if (scripted_batch_at(at)->kind == BATCH_READABLE)
			mock_reader_take(r, at);
	expect_end(r);
	expect_spans(from, end);
}

static void read_random_logs(void **state, int64_t base, bool corrupt,
			     unsigned rounds)
{
	struct kafka_reader *r = start_reader(state);

	srand(41);
	for (unsigned i = 0; i < rounds; i++) {
		int64_t from, end;

		make_log(base, corrupt);
		from = base + rand() % (scripted.end - base);
		end = from + 1 + rand() % 80;
		expect_stretch(r, from, end);
	}
	kafka_reader_free(r);
}

static void each_offset_is_read_or_reported_once(void **state)
{
	read_random_logs(state, 0, false, ROUNDS);
}

static void so_it_is_near_the_greatest_offset(void **state)
{
	read_random_logs(state, INT64_MAX - 1000, false, ROUNDS);
}

/* A client that read a wrong checksum is not used again. */
static void so_it_is_behind_a_wrong_checksum(void **state)
{
	read_random_logs(state, 1000, true, 20);
}

/* --- one batch -------------------------------------------------------------
 */

static void a_long_batch_is_found_in_few_fetches(void **state)
{
	struct kafka_reader *r = start_reader(state);

	scripted_add(BATCH_PACKED, 10, 1000009);
	scripted_add(BATCH_READABLE, 1000010, 1000010);
	scripted_open(r, 10, INT64_MAX);
	mock_reader_take(r, 1000010);
	expect_end(r);
	expect_reported(10, 1000009);
	assert_false(reported.last.may_heal);
	assert_string_equal(
		reported.last.reason,
		rd_kafka_err2str(RD_KAFKA_RESP_ERR__BAD_COMPRESSION));
	assert_in_range(scripted.assigns, 20, 60);
	assert_int_equal(scripted.pauses, 0);
	kafka_reader_free(r);
}

static void the_last_batch_of_a_log_ends_with_it(void **state)
{
	struct kafka_reader *r = start_reader(state);

	scripted_add(BATCH_READABLE, 0, 4);
	scripted_add(BATCH_PACKED, 5, 5);
	scripted_open(r, 5, INT64_MAX);
	expect_end(r);
	expect_reported(5, 5);
	kafka_reader_free(r);
}

/* The batch belongs to a stretch that another reader reads. */
static void what_lies_beyond_a_stretch_is_not_reported(void **state)
{
	struct kafka_reader *r = start_reader(state);

	scripted_add(BATCH_PACKED, 0, 9);
	scripted_open(r, 3, 6);
	expect_end(r);
	expect_reported(3, 5);
	scripted.assigns = 0;
	reported.count = 0;
	scripted_open(r, 3, 3);
	expect_end(r);
	assert_int_equal(reported.count + scripted.assigns, 0);
	kafka_reader_free(r);
}

static void nobody_has_to_hear_of_it(void **state)
{
	struct kafka_reader *r = scripted_reader(*state);

	scripted_add(BATCH_PACKED, 0, 9);
	scripted_add(BATCH_READABLE, 10, 10);
	scripted_open(r, 0, 11);
	mock_reader_take(r, 10);
	kafka_reader_free(r);
}

static void
a_wrong_checksum_is_fetched_again_before_it_is_passed_over(void **state)
{
	struct kafka_reader *r = start_reader(state);

	scripted_add(BATCH_CORRUPT, 0, 0);
	scripted_add(BATCH_READABLE, 1, 1);
	scripted_open(r, 0, 2);
	mock_reader_take(r, 1);
	assert_int_equal(scripted.pauses, TRIES - 1);
	assert_int_equal(scripted.ahead_ms, (TRIES - 1) * 500);
	expect_reported(0, 0);
	assert_true(reported.last.may_heal);
	kafka_reader_free(r);
}

/* The network had a fault once. */
static void one_that_can_be_read_then_is_read(void **state)
{
	for (unsigned fetch = 2; fetch <= TRIES; fetch++) {
		struct kafka_reader *r = start_reader(state);

		scripted_clear();
		scripted_add(BATCH_CORRUPT, 0, 2);
		scripted.batches[0].heals_at = fetch;
		scripted_open(r, 0, 3);
		for (int64_t at = 0; at < 3; at++)
			mock_reader_take(r, at);
		expect_end(r);
		assert_int_equal(reported.count, 0);
		kafka_reader_free(r);
	}
}

static void a_failure_meanwhile_passes_nothing_over(void **state)
{
	struct kafka_reader *r = start_reader(state);
	struct kafka_record record;
	struct error err = {0};

	scripted_add(BATCH_PACKED, 0, 9);
	scripted.bounds = RD_KAFKA_RESP_ERR__TIMED_OUT;
	scripted_open(r, 0, 20);
	assert_int_equal(kafka_reader_next(r, &record, &err), -1);
	assert_true(err.retriable);
	assert_int_equal(reported.count, 0);
	/* The stretch ends with that error. */
	assert_int_equal(kafka_reader_next(r, &record, &err), 0);
	kafka_reader_free(r);
}

/* The silence can begin at any poll of the search. */
static void silence_meanwhile_passes_nothing_over(void **state)
{
	for (unsigned poll = 2; poll <= 8; poll++) {
		struct kafka_reader *r = start_reader(state);
		struct kafka_record record;
		struct error err = {0};

		scripted_clear();
		scripted_add(BATCH_PACKED, 0, 10);
		scripted_add(BATCH_READABLE, 11, 11);
		scripted.polls = 0;
		scripted.silent = false;
		scripted.silent_at = poll;
		scripted_open(r, 0, 20);
		assert_int_equal(kafka_reader_next(r, &record, &err), -1);
		assert_true(err.retriable);
		/* The search needs seven polls. */
		assert_int_equal(reported.count, poll == 8);
		kafka_reader_free(r);
	}
}

/* --- probing ---------------------------------------------------------------
 */

static int probe_offset(struct kafka_reader *r, int64_t offset,
			struct kafka_unreadable *ret, struct error *err)
{
	unsigned unassigns = scripted.unassigns;
	rd_kafka_t *spent = scripted.spent;
	int status = kafka_reader_probe(r, MOCK_KAFKA_TOPIC, SCRIPTED_PARTITION,
					offset, ret, err);
	struct kafka_record record;

	/* Reading does not continue from there. */
	if (scripted.spent == spent)
		assert_int_equal(scripted.unassigns, unassigns + 1);
	assert_int_equal(kafka_reader_next(r, &record, err), 0);
	return status;
}

static void a_probe_says_what_cannot_be_read_from_there_on(void **state)
{
	struct kafka_reader *r = start_reader(state);
	struct kafka_unreadable what;
	struct error err = {0};

	scripted_add(BATCH_READABLE, 0, 4);
	scripted_add(BATCH_HOLE, 5, 6);
	scripted_add(BATCH_PACKED, 7, 19);
	scripted_add(BATCH_HOLE, 20, 30);
	assert_int_equal(probe_offset(r, 4, &what, &err), 1);
	assert_int_equal(probe_offset(r, 5, &what, &err), 0);
	assert_int_equal(what.first, 7);
	assert_int_equal(what.last, 19);
	assert_int_equal(probe_offset(r, 12, &what, &err), 0);
	assert_int_equal(what.first, 12);
	assert_int_equal(what.last, 19);
	/* There is no record yet. */
	assert_int_equal(probe_offset(r, 20, &what, &err), 1);
	assert_int_equal(probe_offset(r, 31, &what, &err), 1);
	assert_int_equal(reported.count, 0);
	kafka_reader_free(r);
}

static void a_probe_of_what_heals_says_that_it_can_be_read(void **state)
{
	struct kafka_reader *r = start_reader(state);
	struct kafka_unreadable what;
	struct error err = {0};

	scripted_add(BATCH_CORRUPT, 0, 4);
	scripted.batches[0].heals_at = 3;
	assert_int_equal(probe_offset(r, 2, &what, &err), 1);
	kafka_reader_free(r);
}

static void a_probe_without_an_answer_fails(void **state)
{
	struct kafka_reader *r = start_reader(state);
	struct kafka_unreadable what;
	struct error err = {0};

	scripted_add(BATCH_READABLE, 0, 4);
	scripted.silent = true;
	assert_int_equal(probe_offset(r, 2, &what, &err), -1);
	scripted.silent = false;
	scripted.assign = RD_KAFKA_RESP_ERR__STATE;
	assert_int_equal(kafka_reader_probe(r, MOCK_KAFKA_TOPIC,
					    SCRIPTED_PARTITION, 2, &what, &err),
			 -1);
	scripted.assign = 0;
	kafka_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRIPTED_TEST(each_offset_is_read_or_reported_once),
		SCRIPTED_TEST(so_it_is_near_the_greatest_offset),
		SCRIPTED_TEST(so_it_is_behind_a_wrong_checksum),
		SCRIPTED_TEST(a_long_batch_is_found_in_few_fetches),
		SCRIPTED_TEST(the_last_batch_of_a_log_ends_with_it),
		SCRIPTED_TEST(what_lies_beyond_a_stretch_is_not_reported),
		SCRIPTED_TEST(nobody_has_to_hear_of_it),
		SCRIPTED_TEST(
			a_wrong_checksum_is_fetched_again_before_it_is_passed_over),
		SCRIPTED_TEST(one_that_can_be_read_then_is_read),
		SCRIPTED_TEST(a_failure_meanwhile_passes_nothing_over),
		SCRIPTED_TEST(silence_meanwhile_passes_nothing_over),
		SCRIPTED_TEST(a_probe_says_what_cannot_be_read_from_there_on),
		SCRIPTED_TEST(a_probe_of_what_heals_says_that_it_can_be_read),
		SCRIPTED_TEST(a_probe_without_an_answer_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
