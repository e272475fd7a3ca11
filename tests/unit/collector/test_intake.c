/* The intake of records: which records are taken, in which order, and where a
 * repeated batch ends. */
#include "tests/unit/collector/ingest_world.h"

#include "schemas/link.pb-c.h"

/* --- records -------------------------------------------------------------- */

static size_t pack_link(uint8_t out[256])
{
	static char code[] = "abc", url[] = "https://example.com/";
	Shortloop__Link link;
	Shortloop__LinkEvent e;
	size_t len;

	shortloop__link__init(&link);
	shortloop__link_event__init(&e);
	link.link_id = 7;
	link.url = url;
	e.time_ms = 1795255620123;
	e.code = code;
	e.link = &link;
	len = shortloop__link_event__get_packed_size(&e);
	assert_true(len <= 256);
	return shortloop__link_event__pack(&e, out);
}

static void take_payload(struct ingest_world *w, int64_t offset,
			 int64_t time_ms, const void *payload, size_t len)
{
	const struct kafka_record record = {
		.topic = w->p->topic,
		.partition = w->p->number,
		.offset = offset,
		.time_ms = time_ms,
		.payload = payload,
		.len = len,
	};

	intake_take(&w->intake, &record);
}

static void take_link_event(struct ingest_world *w, int64_t offset)
{
	uint8_t event[256];

	take_payload(w, offset, 1000 + offset, event, pack_link(event));
}

static void take_bad(struct ingest_world *w, int64_t offset)
{
	take_payload(w, offset, 1000 + offset, "\xff", 1);
}

/* The partition is one of links, since their events are easily made. */
static int set_up(void **state)
{
	struct ingest_world *w;

	if (ingest_set_up(state) < 0)
		return -1;
	w = *state;
	w->p = ingest_add(w, "links", 0);
	return 0;
}

static uint64_t read_consumed_count(struct ingest_world *w)
{
	return (uint64_t)metric_value(w->metrics.consumed);
}

/* --- one by one ----------------------------------------------------------- */

static void records_are_taken_in_order(void **state)
{
	struct ingest_world *w = *state;

	take_link_event(w, 0);
	take_link_event(w, 1);
	assert_int_equal(w->p->filling.events, 2);
	assert_int_equal(w->p->filling.row_count, 2);
	assert_int_equal(w->p->filling.last, 1);
	assert_int_equal(w->p->filling.append_ms, 1001);
	assert_int_equal(w->p->next_offset, 2);
	assert_int_equal(w->p->append_ms, 1001);
	assert_int_equal(read_consumed_count(w), 2);
	assert_true(w->p->filling.rows.len > 0);
}

/* A log may have missing offsets. */
static void a_hole_is_passed(void **state)
{
	struct ingest_world *w = *state;

	take_link_event(w, 3);
	assert_int_equal(w->p->filling.events, 1);
	assert_int_equal(w->p->next_offset, 4);
	assert_int_equal(w->p->state, PARTITION_READING);
}

static void what_comes_again_is_another_log(void **state)
{
	struct ingest_world *w = *state;

	take_link_event(w, 0);
	take_link_event(w, 0);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
	assert_int_equal(w->p->assignment, 2);
	assert_int_equal(read_consumed_count(w), 1);
	assert_int_equal(w->p->filling.events, 0);
}

static void only_who_reads_takes(void **state)
{
	static const enum partition_state others[] = {
		PARTITION_UNASSIGNED, PARTITION_RECOVERING, PARTITION_STOPPED,
		PARTITION_CLAIMING,   PARTITION_SEEKING,    PARTITION_REVOKING};
	struct ingest_world *w = *state;

	for (size_t i = 0; i < 6; i++) {
		w->p->state = others[i];
		take_link_event(w, 0);
		intake_end(&w->intake, "links", 0, 5);
	}
	w->p->state = PARTITION_READING;
	w->p->hold.on = true;
	take_link_event(w, 0);
	intake_end(&w->intake, "links", 0, 5);
	w->p->hold.on = false;
	w->p->reread_from = 0;
	take_link_event(w, 0);
	intake_end(&w->intake, "links", 0, 5);
	/* The partition is not assigned here, so a seek to its offset fails. */
	assert_int_equal(w->p->reread_from, 0);
	assert_int_equal(read_consumed_count(w), 0);
	assert_int_equal(w->p->next_offset, 0);
}

static void rows_that_are_stored_are_told_of_and_not_sent(void **state)
{
	struct ingest_world *w = *state;
	struct error err = {0};
	size_t len;

	assert_int_equal(ranges_add(&w->p->stored, 1, 2, &err), 0);
	take_link_event(w, 0);
	len = w->p->filling.rows.len;
	take_link_event(w, 1);
	take_link_event(w, 2);
	assert_int_equal(w->p->filling.rows.len, len);
	assert_int_equal(w->p->filling.row_count, 3);
	assert_int_equal(w->p->filling.stored_before, 2);
	take_link_event(w, 3);
	assert_int_equal(w->p->filling.rows.len, 2 * len);
	assert_int_equal(w->p->filling.stored_before, 2);
	assert_int_equal(w->p->filling.in_hand.count, 2);
}

static void a_broker_without_times_is_given_ours(void **state)
{
	struct ingest_world *w = *state;
	int64_t before = clock_real_ms();
	uint8_t event[256];

	take_payload(w, 0, -1, event, pack_link(event));
	assert_true(w->p->append_ms >= before);
	take_payload(w, 1, 0, event, pack_link(event));
	assert_int_equal(w->p->append_ms, 0);
}

static void what_is_no_event_is_a_dead_letter(void **state)
{
	struct ingest_world *w = *state;

	atomic_store(&w->p->letters_given_up, 3);
	take_link_event(w, 0);
	assert_int_equal(w->p->filling.letters_given_up, 0);
	take_bad(w, 1);
	/* Letters that were given up before do not belong to this batch. */
	assert_int_equal(w->p->filling.letters_given_up, 3);
	atomic_store(&w->p->letters_given_up, 4);
	take_bad(w, 2);
	assert_int_equal(w->p->filling.letters_given_up, 3);
	assert_int_equal(w->p->filling.dead_lettered, 2);
	assert_int_equal(w->p->filling.row_count, 1);
	assert_int_equal(w->p->filling.last, 2);
	assert_int_equal(w->p->next_offset, 3);
	assert_int_equal(read_consumed_count(w), 3);
	assert_int_equal(metric_value(w->metrics.dead_lettered), 2);
}

static void a_full_batch_is_worth_a_look(void **state)
{
	struct ingest_world *w = *state;

	w->settings.batch_rows = 2;
	take_link_event(w, 0);
	assert_false(w->intake.filled);
	take_link_event(w, 1);
	assert_true(w->intake.filled);
	/* The flag is set only once. */
	w->intake.filled = false;
	take_link_event(w, 2);
	assert_false(w->intake.filled);
}

/* Ends the hold of the partition; the record at `offset` comes next. */
static void go_on_at(struct ingest_world *w, int64_t offset)
{
	w->p->hold.on = false;
	w->p->next_offset = offset;
	take_link_event(w, offset);
}

static void an_operators_word_holds_the_partition(void **state)
{
	struct ingest_world *w = *state;
	struct pass named[] = {{"links", 0, 2, 5, 5},
			       {"links", 0, 1, 0, 9}, /* another epoch */
			       {"links", 0, 2, 2, 3},
			       {"links", 1, 2, 0, 9}};

	w->passes = (struct passes){named, 4, true};
	partition_find_pass(w->p, &w->passes, 0);
	take_link_event(w, 0);
	take_link_event(w, 1);
	assert_false(w->p->hold.on);
	take_link_event(w, 2);
	assert_true(w->p->hold.on);
	assert_int_equal(w->p->next_offset, 2);
	go_on_at(w, 3);
	assert_true(w->p->hold.on);
	go_on_at(w, 4);
	assert_false(w->p->hold.on);
	/* The same poll brings the next named range. */
	take_link_event(w, 5);
	assert_true(w->p->hold.on);
	go_on_at(w, 6);
	assert_false(w->p->hold.on);
	assert_int_equal(read_consumed_count(w), 4);
}

/* --- a repeated batch ----------------------------------------------------- */

static void set_repeated_batch(struct ingest_world *w, uint64_t first,
			       uint64_t last)
{
	w->p->repeat = (struct intent){2, true, first, last};
	w->p->position = first;
	w->p->next_offset = (int64_t)first;
}

static void it_ends_with_its_last_offset(void **state)
{
	struct ingest_world *w = *state;

	set_repeated_batch(w, 5, 7);
	take_link_event(w, 5);
	take_link_event(w, 6);
	assert_null(w->p->insert.job);
	assert_true(w->p->repeat.has_batch);
	take_link_event(w, 7);
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->insert.job->batch.events, 3);
	assert_int_equal(w->p->insert.job->batch.last, 7);
	assert_true(w->p->insert.job->rows.doubt);
	assert_false(w->p->repeat.has_batch);
	take_link_event(w, 8);
	assert_int_equal(w->p->filling.events, 1);
}

/* The last offsets of the batch are missing in the log. */
static void it_ends_before_what_lies_behind_it(void **state)
{
	struct ingest_world *w = *state;

	set_repeated_batch(w, 5, 7);
	take_link_event(w, 5);
	take_link_event(w, 9);
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->insert.job->batch.events, 1);
	assert_int_equal(w->p->insert.job->batch.last, 7);
	assert_int_equal(w->p->filling.events, 1);
	assert_int_equal(w->p->filling.first, 9);
	assert_int_equal(w->p->next_offset, 10);
}

static void it_ends_with_the_log(void **state)
{
	struct ingest_world *w = *state;

	set_repeated_batch(w, 5, 7);
	take_link_event(w, 5);
	intake_end(&w->intake, "links", 0, 7);
	assert_null(w->p->insert.job);
	intake_end(&w->intake, "links", 0, 8);
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->insert.job->batch.last, 7);
	assert_int_equal(w->p->next_offset, 8);
}

static void one_of_which_nothing_is_left_is_not_made(void **state)
{
	struct ingest_world *w = *state;

	set_repeated_batch(w, 5, 7);
	take_link_event(w, 8);
	assert_null(w->p->insert.job);
	assert_false(w->p->repeat.has_batch);
	assert_int_equal(w->p->filling.events, 1);
	assert_int_equal(w->p->filling.first, 8);
}

static void a_log_that_ends_before_is_another(void **state)
{
	struct ingest_world *w = *state;

	take_link_event(w, 0);
	take_link_event(w, 1);
	intake_end(&w->intake, "links", 0, 1);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
}

/* --- skipped offsets ------------------------------------------------------ */

static const struct batch gap = {
	.first = 2, .last = 4, .lost = 3, .append_ms = 99};

static void a_gap_is_a_batch_of_its_own(void **state)
{
	struct ingest_world *w = *state;

	take_link_event(w, 0);
	take_link_event(w, 1);
	assert_false(intake_pass(&w->intake, w->p, &gap));
	inserts_begin(&w->inserts, w->p);
	/* It is also refused while another batch is under way. */
	assert_false(intake_pass(&w->intake, w->p, &gap));
	assert_int_equal(w->p->next_offset, 2);
	batch_insert_free(w->p->insert.job);
	w->p->insert.job = NULL;
	assert_true(intake_pass(&w->intake, w->p, &gap));
	assert_int_equal(w->p->next_offset, 5);
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->insert.job->batch.first, 2);
	assert_int_equal(w->p->insert.job->batch.last, 4);
	assert_int_equal(w->p->insert.job->batch.lost, 3);
	assert_false(w->p->insert.job->rows.doubt);
}

static void a_gap_may_lie_in_the_batch_that_is_made_again(void **state)
{
	struct ingest_world *w = *state;

	set_repeated_batch(w, 0, 6);
	take_link_event(w, 0);
	take_link_event(w, 1);
	assert_true(intake_pass(&w->intake, w->p, &gap));
	assert_null(w->p->insert.job);
	assert_int_equal(w->p->next_offset, 5);
	take_link_event(w, 5);
	take_link_event(w, 6);
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->insert.job->batch.lost, 3);
	assert_int_equal(w->p->insert.job->batch.row_count, 4);
}

static void a_gap_may_end_it(void **state)
{
	struct ingest_world *w = *state;

	set_repeated_batch(w, 0, 4);
	take_link_event(w, 0);
	take_link_event(w, 1);
	assert_true(intake_pass(&w->intake, w->p, &gap));
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->insert.job->batch.last, 4);
	assert_true(w->p->insert.job->rows.doubt);
}

static void a_gap_behind_it_waits_for_it(void **state)
{
	struct ingest_world *w = *state;

	set_repeated_batch(w, 0, 1);
	take_link_event(w, 0);
	assert_false(intake_pass(&w->intake, w->p, &gap));
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->insert.job->batch.last, 1);
	assert_int_equal(w->p->insert.job->batch.lost, 0);
	assert_int_equal(w->p->next_offset, 2);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up, ingest_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(records_are_taken_in_order),
		TEST(a_hole_is_passed),
		TEST(what_comes_again_is_another_log),
		TEST(only_who_reads_takes),
		TEST(rows_that_are_stored_are_told_of_and_not_sent),
		TEST(a_broker_without_times_is_given_ours),
		TEST(what_is_no_event_is_a_dead_letter),
		TEST(a_full_batch_is_worth_a_look),
		TEST(an_operators_word_holds_the_partition),
		TEST(it_ends_with_its_last_offset),
		TEST(it_ends_before_what_lies_behind_it),
		TEST(it_ends_with_the_log),
		TEST(one_of_which_nothing_is_left_is_not_made),
		TEST(a_log_that_ends_before_is_another),
		TEST(a_gap_is_a_batch_of_its_own),
		TEST(a_gap_may_lie_in_the_batch_that_is_made_again),
		TEST(a_gap_may_end_it),
		TEST(a_gap_behind_it_waits_for_it),
	};

	return cmocka_run_group_tests_name("intake", tests, ingest_connect,
					   ingest_disconnect);
}
