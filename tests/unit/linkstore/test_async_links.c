/* Calls that change or count single links, on an event loop. */
#include "tests/unit/linkstore/async_fixture.h"

#include "codespace/link_id.h"
#include "linkstore/block/link_writer.h"
#include "linkstore/link/edit.h"
#include "linkstore/link/visit_count.h"
#include "linkstore/standalone.h"
#include "linkstore/target.h"

static void on_created(void *arg, int64_t expires, const struct error *err)
{
	struct async_fixture *a = arg;

	a->stored += !err && expires > 0;
	count_down_waiting(a);
}

static void create_batch(struct async_fixture *a,
			 const struct link_block *block, uint32_t from,
			 struct link_target ret_targets[CREATE_BATCH_MAX])
{
	Shortloop__Link link = empty_link();

	link.url = text_of("https://example.org/");
	for (uint32_t i = 0; i < CREATE_BATCH_MAX; i++) {
		linkstore_code(a->f->space, block->number, from + i,
			       &ret_targets[i]);
		must(a, link_prepare(block, from + i, &link, &a->err));
		must(a,
		     link_writer_create(a->writer, block, ret_targets[i].code,
					&link, 0, on_created, a, &a->err));
		a->waiting++;
	}
	run_loop(a);
}

static void fill_block(struct async_fixture *a)
{
	struct link_block block = open_block(a->f, a->f->brief);
	struct link_target targets[CREATE_BATCH_MAX];

	sleep_ms(HOLD + 10);
	for (uint32_t from = 0; from + CREATE_BATCH_MAX <= 1000;
	     from += CREATE_BATCH_MAX) {
		create_batch(a, &block, from, targets);
		for (int i = 0; i < CREATE_BATCH_MAX; i++)
			assert_true(gone_at(a->f, &targets[i]) <=
				    read_marker(a->f, block.number).end);
	}
}

/* The clock goes on while a script runs. */
static void no_link_of_a_batch_outlives_the_end_of_its_block(void **state)
{
	struct async_fixture *a = *state;

	for (int i = 0; i < 5; i++)
		fill_block(a);
	assert_int_equal(a->stored,
			 5 * (1000 / CREATE_BATCH_MAX) * CREATE_BATCH_MAX);
}

static void on_edited(void *arg, int64_t expires, const struct error *err)
{
	struct async_fixture *a = arg;

	a->stored += !err && expires > 0;
	if (err)
		a->err = *err;
	count_down_waiting(a);
}

static void an_edit_and_a_late_one_get_their_answers(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	struct link_target t = store_link(a->f, &block, 0);
	struct link_answer read;
	Shortloop__Link after;

	must(a, await_lookup(a->f->await, &t, &read, &a->err));
	for (int i = 0; i < 2; i++) {
		link_edit_delete(read.link, read.ttl_left, &after);
		after.changed_ms = (uint64_t)i + 1;
		must(a, link_editor_edit(a->editor, &t, read.link, &after, NULL,
					 on_edited, a, &a->err));
		a->waiting++;
	}
	run_loop(a);
	assert_int_equal(a->stored, 1);
	assert_int_equal(a->err.code, ERROR_CONFLICT);
	await_release(&read.link);
}

static void on_counted(void *arg, enum visit_count result, uint64_t used,
		       const struct error *err)
{
	struct async_fixture *a = arg;

	a->stored += !err && result == VISIT_COUNTED;
	a->left = (int64_t)used;
	count_down_waiting(a);
}

static void visits_are_counted_on_a_loop(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	struct link_target t = store_link(a->f, &block, 0);
	struct link_answer read;
	uint64_t link_id;

	must(a, await_lookup(a->f->await, &t, &read, &a->err));
	link_id = read.link->link_id;
	await_release(&read.link);
	for (a->waiting = 0; a->waiting < 3; a->waiting++)
		must(a, link_count_visit_async(a->redis, &t, link_id, 2,
					       on_counted, a, &a->err));
	run_loop(a);
	assert_int_equal(a->stored, 2);
	assert_int_equal(a->left, 2);
	a->waiting = 1;
	must(a, link_count_fetch_async(a->redis, &t, link_id, 3, 1, on_counted,
				       a, &a->err));
	run_loop(a);
	assert_int_equal(a->stored, 3);
	assert_int_equal(a->left, 2);
}

static void on_plain(void *arg, const struct standalone_result *result,
		     const struct error *err)
{
	struct async_fixture *a = arg;

	if (!err && result->outcome == STANDALONE_CREATED)
		a->stored++;
	else if (!err && result->existing->link_id == link_id_blockless(1))
		a->refused++;
	count_down_waiting(a);
}

static void of_two_links_of_one_alias_the_first_is_stored(void **state)
{
	struct async_fixture *a = *state;
	Shortloop__Link link = empty_link();
	struct link_target t;

	fixture_configure_all(a->f);
	fixture_open_store(a->f);
	must(a, linkstore_alias(a->f->store, "sale", 4, &t, &a->err));
	for (uint64_t id = 1; id <= 2; id++) {
		standalone_prepare(a->f->day, link_id_blockless(id), &link);
		must(a, standalone_create_async(a->redis, &t, &link, 0,
						on_plain, a, &a->err));
		a->waiting++;
	}
	run_loop(a);
	assert_int_equal(a->stored, 1);
	assert_int_equal(a->refused, 1);
}

struct stubborn {
	struct async_fixture *a;
	struct link_block block;
	unsigned heard;
	int status; /* the status of the retry */
};

static void on_end(void *arg, int64_t expires, const struct error *err)
{
	struct stubborn *s = arg;
	Shortloop__Link link = empty_link();
	struct error again = {0};

	(void)expires;
	assert_non_null(err);
	s->heard++;
	must(s->a, link_prepare(&s->block, 1, &link, &s->a->err));
	s->status = link_writer_create(s->a->writer, &s->block, "abcde", &link,
				       0, on_end, s, &again);
}

static void a_link_that_is_tried_again_at_the_end_is_refused(void **state)
{
	struct async_fixture *a = *state;
	struct stubborn s = {.a = a, .block = open_block(a->f, a->f->day)};
	Shortloop__Link link = empty_link();

	must(a, link_prepare(&s.block, 0, &link, &a->err));
	must(a, link_writer_create(a->writer, &s.block, "abcdf", &link, 0,
				   on_end, &s, &a->err));
	link_writer_free(a->writer);
	a->writer = NULL;
	assert_int_equal(s.heard, 1);
	assert_int_equal(s.status, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASYNC(no_link_of_a_batch_outlives_the_end_of_its_block),
		ASYNC(an_edit_and_a_late_one_get_their_answers),
		ASYNC(visits_are_counted_on_a_loop),
		ASYNC(of_two_links_of_one_alias_the_first_is_stored),
		ASYNC(a_link_that_is_tried_again_at_the_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
