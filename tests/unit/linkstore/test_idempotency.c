/* Requests with an idempotency key: one plan at a time, compared as a whole. */
#include "tests/unit/linkstore/async_fixture.h"

#include "linkstore/idempotency_record.h"

#define NAME "00112233445566778899aabbccddeeff"
#define KEY  "i:{" NAME "}"
static const char key[IDEM_KEY_MAX] = NAME;

struct heard {
	struct async_fixture *a;
	struct idem_record record;
	int64_t now;
	bool written;
	bool failed;
};

static void on_heard(void *arg, const struct idem_record *record, int64_t now,
		     bool written, const struct error *err)
{
	struct heard *h = arg;

	h->failed = err;
	if (!err) {
		h->record = *record;
		h->now = now;
		h->written = written;
	}
	loop_stop(h->a->loop);
}

static struct heard read_record(struct async_fixture *a)
{
	struct heard h = {.a = a};

	assert_int_equal(idem_read_async(a->redis, a->f->store, key, on_heard,
					 &h, &a->err),
			 0);
	run_loop(a);
	assert_false(h.failed);
	return h;
}

static struct heard write_record(struct async_fixture *a, const char *expected,
				 uint64_t link_id, bool done)
{
	struct heard h = {.a = a};
	struct idem_record values = {
		.done = done,
		.fingerprint = "ffeeddccbbaa99887766554433221100",
		.link_id = link_id,
		.code = "kYq3ZtB",
	};

	assert_int_equal(idem_write_async(a->redis, a->f->store, key, expected,
					  &values, on_heard, &h, &a->err),
			 0);
	run_loop(a);
	assert_false(h.failed);
	return h;
}

static void end_plan(struct async_fixture *a, const char *plan, bool done)
{
	assert_int_equal(
		idem_end_async(a->redis, a->f->store, key, plan, done, &a->err),
		0);
}

static void what_was_never_planned_is_empty(void **state)
{
	struct heard h = read_record(*state);

	assert_string_equal(h.record.text, "");
	assert_true(h.now > 0);
}

static void a_plan_reads_back_with_its_deadline(void **state)
{
	struct heard w = write_record(*state, "", 77, false), r;

	assert_true(w.written);
	r = read_record(*state);
	assert_string_equal(r.record.text, w.record.text);
	assert_false(r.record.done);
	assert_int_equal(r.record.link_id, 77);
	assert_string_equal(r.record.code, "kYq3ZtB");
	assert_string_equal(r.record.fingerprint,
			    "ffeeddccbbaa99887766554433221100");
	assert_in_range(r.record.deadline, w.now + IDEM_WINDOW - 1,
			w.now + IDEM_WINDOW + 1);
}

static void a_second_plan_is_told_of_the_first(void **state)
{
	struct heard second;

	write_record(*state, "", 1, false);
	second = write_record(*state, "", 2, false);
	assert_false(second.written);
	assert_int_equal(second.record.link_id, 1);
}

static void a_plan_is_replaced_by_who_knows_it_whole(void **state)
{
	struct heard first = write_record(*state, "", 1, false), w;

	w = write_record(*state, first.record.text, 2, false);
	assert_true(w.written);
	w = write_record(*state, first.record.text, 3, false);
	assert_false(w.written);
	assert_int_equal(w.record.link_id, 2);
}

static void a_plan_carried_out_is_done_and_a_dropped_one_gone(void **state)
{
	struct heard w = write_record(*state, "", 1, false);

	end_plan(*state, w.record.text, true);
	assert_true(read_record(*state).record.done);
	w = read_record(*state);
	end_plan(*state, w.record.text, false);
	assert_string_equal(read_record(*state).record.text, "");
}

static void anothers_plan_is_not_ended(void **state)
{
	struct heard mine = write_record(*state, "", 1, false), other;

	other = write_record(*state, mine.record.text, 2, false);
	end_plan(*state, mine.record.text, false);
	end_plan(*state, mine.record.text, true);
	assert_string_equal(read_record(*state).record.text, other.record.text);
}

static void a_record_is_kept_for_a_day(void **state)
{
	struct async_fixture *a = *state;
	struct heard w = write_record(a, "", 1, false);

	end_plan(a, w.record.text, true);
	read_record(a);
	assert_in_range(redis_server_number(&a->f->server, "PTTL " KEY),
			IDEM_KEEP - 60000, IDEM_KEEP);
}

static void a_damaged_record_is_an_error(void **state)
{
	struct async_fixture *a = *state;
	struct heard h = {.a = a};

	freeReplyObject(
		redis_server_ask(&a->f->server, "SET " KEY " nonsense"));
	assert_int_equal(idem_read_async(a->redis, a->f->store, key, on_heard,
					 &h, &a->err),
			 0);
	run_loop(a);
	assert_true(h.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASYNC(what_was_never_planned_is_empty),
		ASYNC(a_plan_reads_back_with_its_deadline),
		ASYNC(a_second_plan_is_told_of_the_first),
		ASYNC(a_plan_is_replaced_by_who_knows_it_whole),
		ASYNC(a_plan_carried_out_is_done_and_a_dropped_one_gone),
		ASYNC(anothers_plan_is_not_ended),
		ASYNC(a_record_is_kept_for_a_day),
		ASYNC(a_damaged_record_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
