/* A link is created once, whatever is sent again and whichever answers are
 * lost. */
#include "tests/unit/allocator/creation_world.h"

#include "linkstore/url_blocks.h"

/* The strategy `sequence`, except for the faults a test chooses. */
static struct {
	int lose; /* lose this many answers after the link was stored */
	int drop; /* drop this many tries, which never reach Redis */
	void (*before_take)(void *arg);
	void (*before_store)(void *arg, struct creation *c);
	void *arg;
	bool hold;
	struct creation *held;
} fault;

static const struct error lost = {
	.code = ERROR_REMOTE, .retriable = true, .text = "the answer was lost"};

static void faulty_take(struct creation *c)
{
	if (fault.before_take)
		fault.before_take(fault.arg);
	strategy_sequence.take(c);
}

static void on_stored(void *arg, int64_t expires, const struct error *err)
{
	creation_stored(arg, expires, fault.lose-- > 0 ? &lost : err);
}

static void faulty_store(struct creation *c)
{
	struct error err = {0};

	if (fault.hold) {
		fault.held = c;
		loop_stop(((struct creation_world *)fault.arg)->loop);
		return;
	}
	if (fault.before_store)
		fault.before_store(fault.arg, c);
	if (fault.drop-- > 0)
		creation_stored(c, 0, &lost);
	else if (link_writer_create(c->context->writer, &c->sequence.block,
				    c->target.code, &c->link, c->deadline,
				    on_stored, c, &err) < 0)
		fail_msg("%s", err.text);
}

static bool faulty_refused(struct creation *c, const struct error *err)
{
	return strategy_sequence.refused(c, err);
}

static const struct strategy faulty = {
	.take = faulty_take, .store = faulty_store, .refused = faulty_refused};

static int set_up(void **state)
{
	memset(&fault, 0, sizeof(fault));
	creation_world_set_up(state);
	fault.arg = *state;
	return 0;
}

/* Gives this block to another holder. */
static void close_block(void *arg, struct creation *c)
{
	struct creation_world *w = arg;
	struct link_block block = c->sequence.block;
	char words[64];

	fault.before_store = NULL;
	snprintf(words, sizeof(words), "DEL m:{s5:%d}", (int)block.number);
	assert_int_equal(redis_server_number(&w->f->server, words), 1);
}

/* Gives the block away once the first try is under way. */
static void close_block_at_second(void *arg, struct creation *c)
{
	(void)arg;
	(void)c;
	fault.before_store = close_block;
}

/* --- without a key -------------------------------------------------------- */

static void a_line_of_a_batch_makes_a_link_of_a_batch(void **state)
{
	struct made m =
		create_link_and_wait(*state, &(struct asked){.line = 7});

	assert_int_equal(m.status, 201);
	assert_int_equal(m.source, SHORTLOOP__LINK_SOURCE__SOURCE_BATCH);
}

static void a_link_is_stored_counted_and_reported(void **state)
{
	struct creation_world *w = *state;
	const int64_t before = clock_real_ms();
	struct made m = create_link_and_wait(w, &(struct asked){0});
	const int64_t day = 24 * 3600 * 1000;

	assert_int_equal(m.status, 201);
	assert_false(m.replayed);
	assert_string_equal(m.creator, "crm-key");
	assert_int_equal(m.source, SHORTLOOP__LINK_SOURCE__SOURCE_SINGLE);
	assert_int_equal(links_stored(w), 1);
	assert_in_range(m.expires, before + day, clock_real_ms() + day + 1000);
	assert_int_equal(metric_value(w->counts.created), 1);
	assert_int_equal(metric_value(w->counts.retries), 0);
	assert_int_equal(w->context.created[w->f->space->index], 1);
	assert_int_equal(w->context.created[w->f->alias->index], 0);
	assert_int_equal(count_audit_lines(w), 1);
	assert_int_equal(keys_like(w, "i:*"), 0);
	assert_int_equal(keys_like(w, "quota:*"), 0);
}

static void a_lost_answer_is_asked_for_again_and_counts_once(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	fault.lose = 4;
	m = create_link_and_wait(w, &(struct asked){.strategy = &faulty});
	assert_int_equal(m.status, 201);
	assert_int_equal(links_stored(w), 1);
	assert_int_equal(metric_value(w->counts.retries), 4);
	assert_int_equal(metric_value(w->counts.created), 1);
	assert_int_equal(count_audit_lines(w), 1);
}

static void five_lost_answers_are_enough(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	fault.lose = 5;
	m = create_link_and_wait(w, &(struct asked){.strategy = &faulty});
	assert_int_equal(m.status, 503);
	assert_int_equal(m.retry_after, 1);
	assert_non_null(strstr(m.detail, "in 5 tries: the answer was lost"));
	assert_int_equal(metric_value(w->counts.retries), 4);
	assert_int_equal(metric_value(w->counts.unavailable), 1);
	assert_int_equal(fault.lose, 0);
}

static void a_block_that_was_taken_from_us_costs_another_try(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	fault.before_store = close_block;
	m = create_link_and_wait(w, &(struct asked){.strategy = &faulty});
	assert_int_equal(m.status, 201);
	assert_int_equal(links_stored(w), 1);
	assert_int_equal(metric_value(w->counts.retries), 1);
	assert_int_equal(metric_value(w->counts.conflicts), 0);
	assert_int_equal(metric_value(w->block_counts.blocks_dropped), 1);
}

/* Stores a text under the next code. */
static void take_the_code(void *arg, struct creation *c)
{
	struct creation_world *w = arg;
	char words[96];

	fault.before_store = NULL;
	snprintf(words, sizeof(words), "SET l:{s5:%d}:%s another-link",
		 (int)c->sequence.block.number, c->target.code);
	freeReplyObject(redis_server_ask(&w->f->server, words));
}

static void a_code_that_is_taken_costs_another_try(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	fault.before_store = take_the_code;
	m = create_link_and_wait(w, &(struct asked){.strategy = &faulty});
	assert_int_equal(m.status, 201);
	assert_int_equal(links_stored(w), 2);
	assert_int_equal(metric_value(w->counts.conflicts), 1);
	assert_int_equal(metric_value(w->counts.retries), 1);
	assert_int_equal(metric_value(w->block_counts.blocks_dropped), 0);
}

static void without_a_key_another_code_follows_a_lost_answer(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	fault.drop = 1;
	fault.before_store = close_block_at_second;
	m = create_link_and_wait(w, &(struct asked){.strategy = &faulty});
	assert_int_equal(m.status, 201);
	assert_int_equal(links_stored(w), 1);
}

/* --- the same request again ----------------------------------------------- */

static void run_until_held(struct creation_world *w)
{
	while (!fault.held)
		world_run(w);
}

static void a_request_sent_again_has_the_first_ones_link(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};
	struct made first = create_link_and_wait(w, &asked), again;

	assert_int_equal(first.status, 201);
	settle_world(w);
	assert_true(record_in_redis(w).done);
	again = create_link_and_wait(w, &asked);
	assert_int_equal(again.status, 201);
	assert_true(again.replayed);
	assert_int_equal(again.link_id, first.link_id);
	assert_string_equal(again.code, first.code);
	assert_in_range(again.expires, first.expires - 1000,
			first.expires + 1000);
	assert_int_equal(links_stored(w), 1);
	assert_int_equal(metric_value(w->counts.replayed), 1);
	assert_int_equal(metric_value(w->counts.created), 1);
	assert_int_equal(count_audit_lines(w), 1);
}

static void while_the_first_is_under_way_the_second_is_refused(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .strategy = &faulty};
	struct link_request request;
	struct made first, second;

	fault.hold = true;
	start_creation(w, &first, &request, &asked);
	run_until_held(w);
	fault.hold = false;
	second = create_link_and_wait(w, &asked);
	assert_int_equal(second.status, 409);
	assert_int_equal(second.retry_after, 1);
	assert_int_equal(links_stored(w), 0);
	assert_int_equal(metric_value(w->counts.unavailable), 1);
	faulty_store(fault.held);
	finish_creation(w, &first);
	assert_int_equal(first.status, 201);
	assert_int_equal(links_stored(w), 1);
	second = create_link_and_wait(w, &asked);
	assert_true(second.replayed);
	assert_int_equal(second.link_id, first.link_id);
}

static void a_key_has_no_second_code_while_its_first_try_is_unsure(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .strategy = &faulty};
	struct made m;

	fault.drop = 1;
	fault.before_store = close_block_at_second;
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 503);
	assert_int_equal(links_stored(w), 0);
	settle_world(w);
	/* A second request waits until the first can no longer store a link. */
	assert_false(record_in_redis(w).done);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 409);
}

static void a_link_that_may_be_stored_is_found_by_the_next(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .strategy = &faulty};
	struct made m;

	fault.lose = 5;
	assert_int_equal(create_link_and_wait(w, &asked).status, 503);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 201);
	assert_true(m.replayed);
	assert_int_equal(links_stored(w), 1);
	settle_world(w);
	assert_true(record_in_redis(w).done);
	/* The first request may have ended without reporting the link. */
	assert_int_equal(count_audit_lines(w), 1);
}

static void a_deadline_that_has_passed_stores_nothing(void **state)
{
	struct creation_world *w = *state;
	struct link_request request;
	struct made m;

	fault.hold = true;
	start_creation(w, &m, &request,
		       &(struct asked){.key = "k", .strategy = &faulty});
	run_until_held(w);
	assert_in_range(fault.held->deadline,
			clock_real_ms() + IDEM_WINDOW - 20000,
			clock_real_ms() + IDEM_WINDOW + 1000);
	fault.held->deadline = clock_real_ms() - 5;
	fault.hold = false;
	faulty_store(fault.held);
	finish_creation(w, &m);
	assert_int_equal(m.status, 503);
	assert_int_equal(links_stored(w), 0);
}

/* --- records of other requests -------------------------------------------- */

/* Makes a link with a key, then changes the record of the key. */
static struct made make_then(struct creation_world *w,
			     const struct asked *asked, bool done,
			     int64_t deadline, uint64_t id_change)
{
	struct made m = create_link_and_wait(w, asked);
	struct idem_record record;

	assert_int_equal(m.status, 201);
	settle_world(w);
	record = record_in_redis(w);
	record.done = done;
	record.deadline = deadline;
	record.link_id += id_change;
	put_record(w, &record);
	return m;
}

static void anothers_link_under_a_reused_code_is_not_replayed(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};
	struct made m;

	make_then(w, &asked, true, clock_real_ms() - 5, 1);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 410);
	assert_false(m.replayed);
	assert_int_equal(m.link_id, 0);
	assert_non_null(strstr(m.detail, "created a link, which has ended"));
	assert_int_equal(metric_value(w->counts.invalid), 1);
}

static void anothers_link_is_no_fate_of_a_plan(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};
	struct made first, m;

	first = make_then(w, &asked, false, clock_real_ms() - 5, 1);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 201);
	assert_false(m.replayed);
	assert_true(m.link_id != first.link_id);
	settle_world(w);
	assert_true(record_in_redis(w).done);
	assert_int_equal(record_in_redis(w).link_id, m.link_id);
}

static void a_plan_whose_link_may_have_ended_is_not_made_again(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .ttl = w->f->brief};
	struct made m;

	make_then(w, &asked, false, clock_real_ms() - 5, 1);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 410);
	assert_non_null(strstr(m.detail, "may have created"));
	assert_int_equal(m.retry_after, 0);
}

/* Two concurrent requests for the same code cannot make two links. */
static void
a_plan_of_a_code_that_follows_from_its_url_is_not_waited_for(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .space = w->f->hash};
	struct made first, m;

	first = make_then(w, &asked, false, clock_real_ms() + 20000, 1);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 200);
	assert_int_equal(m.link_id, first.link_id);
	assert_int_equal(links_stored(w), 1);
}

static void a_link_whose_report_is_unknown_is_reported_again(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};

	make_then(w, &asked, false, clock_real_ms() + 5000, 0);
	assert_true(create_link_and_wait(w, &asked).replayed);
	settle_world(w);
	assert_true(record_in_redis(w).done);
	assert_true(create_link_and_wait(w, &asked).replayed);
	assert_int_equal(count_audit_lines(w), 2);
}

static void change_state(struct creation_world *w,
			 Shortloop__LinkState link_state)
{
	char key[128];
	struct link_target target;
	struct link_answer found;
	Shortloop__Link after;
	int64_t expires;

	key_like(w, "l:*", key);
	assert_true(linkstore_locate(w->f->store, strrchr(key, ':') + 1,
				     strlen(strrchr(key, ':') + 1), &target));
	must(w->f, await_lookup(w->f->await, &target, &found, &w->f->err));
	after = *found.link;
	after.state = link_state;
	after.version++;
	must(w->f, await_edit(w->f->await, &target, found.link, &after, NULL,
			      &expires, &w->f->err));
	await_release(&found.link);
}

static void a_link_that_was_deleted_is_not_replayed(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};

	create_link_and_wait(w, &asked);
	settle_world(w);
	change_state(w, SHORTLOOP__LINK_STATE__LINK_DELETED);
	assert_int_equal(create_link_and_wait(w, &asked).status, 410);
	assert_int_equal(links_stored(w), 1);
}

static void a_link_that_is_blocked_is_not_replayed(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};
	struct made m;

	make_then(w, &asked, false, clock_real_ms() - 5, 0);
	change_state(w, SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 451);
	assert_int_equal(links_stored(w), 1);
	settle_world(w);
	assert_true(record_in_redis(w).done);
	assert_int_equal(metric_value(w->counts.denied), 1);
}

static void a_code_that_is_nobodys_any_more_has_ended(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};
	struct idem_record record;

	create_link_and_wait(w, &asked);
	settle_world(w);
	record = record_in_redis(w);
	strcpy(record.code, "!");
	put_record(w, &record);
	assert_int_equal(create_link_and_wait(w, &asked).status, 410);
}

static void a_code_of_a_key_that_we_lack_is_not_made_again(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k"};
	struct idem_record record;
	struct made m;

	create_link_and_wait(w, &asked);
	/* The monitor's next check would find that there is no such key. */
	space_monitor_stop(w->monitor);
	settle_world(w);
	record = record_in_redis(w);
	linkstore_note_missing_keys(w->f->space, 1 << 1, 0);
	strcpy(record.code, "abcdH"); /* this code is of version 1 */
	record.done = false;
	record.deadline = clock_real_ms() - 5;
	put_record(w, &record);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 503);
	assert_non_null(strstr(m.detail, "key version"));
	assert_int_equal(links_stored(w), 1);
}

/* --- two concurrent requests ---------------------------------------------- */

static struct idem_record other_plan;

static void plan_before_us(void *arg)
{
	struct creation_world *w = arg;
	char words[256];

	fault.before_take = NULL;
	snprintf(words, sizeof(words), "RENAME i:other %s",
		 (const char *)other_plan.text);
	freeReplyObject(redis_server_ask(&w->f->server, words));
}

/* The record of a first request with the same key is put aside, and is restored
 * between the reading of the record and the writing of the plan. */
static void with_a_faster_one(struct creation_world *w,
			      const struct asked *asked, bool done,
			      int64_t deadline, uint64_t id_change)
{
	char words[256];

	make_then(w, asked, done, deadline, id_change);
	key_like(w, "i:*", other_plan.text);
	snprintf(words, sizeof(words), "RENAME %s i:other", other_plan.text);
	freeReplyObject(redis_server_ask(&w->f->server, words));
	fault.before_take = plan_before_us;
}

static void another_that_was_faster_has_the_key(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .strategy = &faulty};
	struct made m;

	with_a_faster_one(w, &asked, false, clock_real_ms() + 20000, 1);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 409);
	assert_int_equal(links_stored(w), 1);
	/* The other request's record is not dropped. */
	settle_world(w);
	assert_false(record_in_redis(w).done);
}

static void another_that_was_faster_and_is_done_is_the_answer(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .strategy = &faulty};
	struct made m;

	with_a_faster_one(w, &asked, true, clock_real_ms() + 20000, 0);
	m = create_link_and_wait(w, &asked);
	assert_true(m.replayed);
	assert_int_equal(links_stored(w), 1);
}

static void drop_record(void *arg)
{
	fault.before_take = NULL;
	forget_keys(arg, "i:*");
}

static void a_record_that_went_meanwhile_is_written_anew(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.key = "k", .strategy = &faulty};
	struct made m;

	make_then(w, &asked, false, clock_real_ms() - 5, 1);
	fault.before_take = drop_record;
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 201);
	settle_world(w);
	assert_int_equal(record_in_redis(w).link_id, m.link_id);
	assert_true(record_in_redis(w).done);
}

static void one_that_stores_nothing_lets_its_key_go(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {
		.key = "k", .space = w->f->alias, .alias = "by-name"};

	assert_int_equal(
		create_link_and_wait(w, &(struct asked){.space = w->f->alias,
							.alias = "by-name"})
			.status,
		201);
	assert_int_equal(create_link_and_wait(w, &asked).status, 409);
	settle_world(w);
	assert_int_equal(keys_like(w, "i:*"), 0);
	forget_keys(w, "l:*");
	forget_keys(w, "t:*");
	assert_int_equal(
		create_link_and_wait(w, &(struct asked){.key = "k"}).status,
		201);
}

/* --- comparison of keys --------------------------------------------------- */

static void a_key_belongs_to_one_request(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	create_link_and_wait(w, &(struct asked){.key = "k", .body = "{1}"});
	settle_world(w);
	m = create_link_and_wait(w, &(struct asked){.key = "k", .body = "{2}"});
	assert_int_equal(m.status, 422);
	assert_int_equal(m.retry_after, 0);
	assert_int_equal(links_stored(w), 1);
	/* The record of the first request stays. */
	assert_true(record_in_redis(w).done);
	m = create_link_and_wait(w, &(struct asked){.key = "k", .body = "{1}"});
	assert_true(m.replayed);
}

static void keys_of_accounts_and_lines_are_apart(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked[] = {
		{.account = "ab", .key = "c"},
		{.account = "a", .key = "bc"},
		{.account = "a", .key = "bc", .line = 1},
		{.account = "a", .key = "bc", .line = 256},
		{.account = "a", .key = "b"},
		{.account = "ad", .key = "c"},
	};

	for (size_t i = 0; i < 6; i++)
		assert_false(create_link_and_wait(w, &asked[i]).replayed);
	assert_int_equal(links_stored(w), 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(create_link_and_wait(w, &asked[i]).replayed);
}

static void a_key_is_1_to_255_visible_characters(void **state)
{
	char text[257];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_true(idempotency_key_is_valid((struct http_slice){text, 1}));
	assert_true(idempotency_key_is_valid((struct http_slice){text, 255}));
	assert_false(idempotency_key_is_valid((struct http_slice){text, 256}));
	assert_false(idempotency_key_is_valid((struct http_slice){text, 0}));
	assert_true(idempotency_key_is_valid(slice_of("!~")));
	assert_false(idempotency_key_is_valid(slice_of("a b")));
	assert_false(idempotency_key_is_valid(slice_of("a\x7f")));
	assert_false(idempotency_key_is_valid(slice_of("\x1f")));
	assert_false(idempotency_key_is_valid(slice_of("\xc3\xa9")));
}

#define HERE(test)                                                             \
	cmocka_unit_test_setup_teardown(test, set_up, creation_world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(a_link_is_stored_counted_and_reported),
		HERE(a_line_of_a_batch_makes_a_link_of_a_batch),
		HERE(a_lost_answer_is_asked_for_again_and_counts_once),
		HERE(five_lost_answers_are_enough),
		HERE(a_block_that_was_taken_from_us_costs_another_try),
		HERE(a_code_that_is_taken_costs_another_try),
		HERE(without_a_key_another_code_follows_a_lost_answer),
		HERE(a_request_sent_again_has_the_first_ones_link),
		HERE(while_the_first_is_under_way_the_second_is_refused),
		HERE(a_key_has_no_second_code_while_its_first_try_is_unsure),
		HERE(a_link_that_may_be_stored_is_found_by_the_next),
		HERE(a_deadline_that_has_passed_stores_nothing),
		HERE(anothers_link_under_a_reused_code_is_not_replayed),
		HERE(anothers_link_is_no_fate_of_a_plan),
		HERE(a_plan_whose_link_may_have_ended_is_not_made_again),
		HERE(a_plan_of_a_code_that_follows_from_its_url_is_not_waited_for),
		HERE(a_link_whose_report_is_unknown_is_reported_again),
		HERE(a_link_that_was_deleted_is_not_replayed),
		HERE(a_link_that_is_blocked_is_not_replayed),
		HERE(a_code_that_is_nobodys_any_more_has_ended),
		HERE(a_code_of_a_key_that_we_lack_is_not_made_again),
		HERE(another_that_was_faster_has_the_key),
		HERE(another_that_was_faster_and_is_done_is_the_answer),
		HERE(a_record_that_went_meanwhile_is_written_anew),
		HERE(one_that_stores_nothing_lets_its_key_go),
		HERE(a_key_belongs_to_one_request),
		HERE(keys_of_accounts_and_lines_are_apart),
		cmocka_unit_test(a_key_is_1_to_255_visible_characters),
	};

	return cmocka_run_group_tests(tests, creation_world_begin,
				      creation_world_end);
}
