/* The calls on an event loop: the same scripts, in one batch a turn. */
#include <time.h>

#include "linkstore/block/link_writer.h"
#include "linkstore/block/renew.h"
#include "linkstore/target.h"
#include "tests/unit/linkstore/async_fixture.h"

static void on_created(void *arg, int64_t expires, const struct error *err)
{
	struct async_fixture *a = arg;

	if (!err)
		a->stored += expires > 0;
	else if (err->code == ERROR_UNSAFE)
		a->refused++;
	else if (err->code == ERROR_LATE)
		a->late++;
	else
		a->failed++;
	if (err)
		a->err = *err;
	count_down_waiting(a);
}

static void queue_until(struct async_fixture *a, const struct link_block *block,
			uint32_t offset, int64_t deadline)
{
	Shortloop__Link link = empty_link();

	link.url = text_of("https://example.org/");
	linkstore_code(a->f->space, block->number, offset, &a->target);
	must(a, link_prepare(block, offset, &link, &a->err));
	must(a, link_writer_create(a->writer, block, a->target.code, &link,
				   deadline, on_created, a, &a->err));
	a->waiting++;
}

static void queue_link(struct async_fixture *a, const struct link_block *block,
		       uint32_t offset)
{
	queue_until(a, block, offset, 0);
}

static long long count_async_calls(struct async_fixture *a)
{
	return redis_server_calls(&a->f->server, "evalsha");
}

static void links_of_one_turn_and_block_are_one_script(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	long long before;

	queue_link(a, &block, 999);
	run_loop(a);
	before = count_async_calls(a);
	for (uint32_t i = 0; i < CREATE_BATCH_MAX; i++)
		queue_link(a, &block, i);
	run_loop(a);
	assert_int_equal(a->stored, CREATE_BATCH_MAX + 1);
	assert_int_equal(count_async_calls(a) - before, 1);
}

/* Redis has the links of a full script before the turn ends. */
static void a_full_script_does_not_wait_for_the_end_of_the_turn(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	long long before;

	queue_link(a, &block, 999);
	run_loop(a);
	before = count_async_calls(a);
	for (uint32_t i = 0; i < CREATE_BATCH_MAX + 1; i++)
		queue_link(a, &block, i);
	/* The loop does not run; the test waits only for the way to Redis. */
	for (int tries = 0; count_async_calls(a) == before && tries < 1000;
	     tries++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	assert_int_equal(count_async_calls(a) - before, 1);
	assert_int_equal(a->stored, 1);
	run_loop(a);
	assert_int_equal(a->stored, CREATE_BATCH_MAX + 2);
	assert_int_equal(count_async_calls(a) - before, 2);
}

/* The script cannot be sent; the failure of its links is reported from the
 * loop. */
static void a_full_script_for_a_lost_redis_fails_at_the_end(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);

	queue_link(a, &block, 999);
	run_loop(a);
	redis_server_kill(&a->f->server);
	for (uint32_t i = 0; i < CREATE_BATCH_MAX + 1; i++)
		queue_link(a, &block, i);
	assert_int_equal(a->failed, 0);
	run_loop(a);
	assert_int_equal(a->stored, 1);
	assert_int_equal(a->failed, CREATE_BATCH_MAX + 1);
}

static void more_than_a_batch_of_links_are_several_scripts(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);

	for (uint32_t i = 0; i < 2 * CREATE_BATCH_MAX + 1; i++)
		queue_link(a, &block, i);
	run_loop(a);
	assert_int_equal(a->stored, 2 * CREATE_BATCH_MAX + 1);
}

static void links_of_two_blocks_are_told_apart(void **state)
{
	struct async_fixture *a = *state;
	struct link_block lost = open_block(a->f, a->f->day);
	struct link_block kept = open_block(a->f, a->f->day);

	redis_server_number(&a->f->server, "DEL m:{s5:0}");
	for (uint32_t i = 0; i < 3; i++) {
		queue_link(a, &lost, i);
		queue_link(a, &kept, i);
	}
	run_loop(a);
	assert_int_equal(a->stored, 3);
	assert_int_equal(a->failed, 3);
}

static void a_taken_code_fails_alone(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	char words[128];

	linkstore_code(a->f->space, block.number, 1, &a->target);
	snprintf(words, sizeof(words), "SET l:{s5:0}:%s other", a->target.code);
	freeReplyObject(redis_server_ask(&a->f->server, words));
	for (uint32_t i = 0; i < 3; i++)
		queue_link(a, &block, i);
	run_loop(a);
	assert_int_equal(a->stored, 2);
	assert_int_equal(a->refused, 1);
}

/* The link is the first of its batch, when the records take no bytes yet. */
static void a_link_of_which_all_is_zero_is_stored(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	const Shortloop__Link link = empty_link();

	assert_int_equal(shortloop__link__get_packed_size(&link), 0);
	linkstore_code(a->f->space, block.number, 0, &a->target);
	must(a, link_writer_create(a->writer, &block, a->target.code, &link, 0,
				   on_created, a, &a->err));
	a->waiting++;
	run_loop(a);
	assert_int_equal(a->stored, 1);
	assert_true(read_link_pttl(a->f, &a->target) > 0);
}

static void links_queued_at_the_end_are_answered(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);

	queue_link(a, &block, 0);
	link_writer_free(a->writer);
	a->writer = NULL;
	assert_int_equal(a->failed, 1);
	assert_true(a->err.retriable);
}

static void a_redis_that_is_away_fails_what_is_queued(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);

	redis_server_kill(&a->f->server);
	queue_link(a, &block, 0);
	run_loop(a);
	assert_int_equal(a->failed, 1);
	assert_true(a->err.retriable);
}

static void on_looked_up(void *arg, const struct link_answer *answer,
			 const struct error *err)
{
	struct async_fixture *a = arg;

	if (err)
		fail_msg("%s", err->text);
	a->outcome = answer->outcome;
	a->renew = answer->renew;
	count_down_waiting(a);
}

static void a_look_up_finds_the_link(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	struct link_target t = store_link(a->f, &block, 3);

	a->waiting = 1;
	a->outcome = LINK_OUTCOME_UNKNOWN;
	must(a, link_lookup_async(a->redis, &t, on_looked_up, a, &a->err));
	run_loop(a);
	assert_int_equal(a->outcome, LINK_OUTCOME_REDIRECT);
	assert_false(a->renew);
}

static void a_look_up_finds_that_there_is_none(void **state)
{
	struct async_fixture *a = *state;
	struct link_target t;

	linkstore_code(a->f->space, 1, 1, &t);
	a->waiting = 1;
	must(a, link_lookup_async(a->redis, &t, on_looked_up, a, &a->err));
	run_loop(a);
	assert_int_equal(a->outcome, LINK_OUTCOME_UNKNOWN);
}

/* Returns how often Redis has read from a connection. */
static long long reads_of(struct async_fixture *a)
{
	const char *argv[] = {"INFO", "stats"},
		   *name = "total_reads_processed:";
	redisReply *reply;
	long long reads;

	must(a,
	     redis_command(a->f->server.redis, 2, argv, NULL, &reply, &a->err));
	assert_non_null(strstr(reply->str, name));
	reads = strtoll(strstr(reply->str, name) + strlen(name), NULL, 10);
	freeReplyObject(reply);
	return reads;
}

/* 128 commands have fewer bytes than Redis reads at once. */
static void look_ups_of_one_turn_leave_in_one_write(void **state)
{
	struct async_fixture *a = *state;
	struct link_target t;
	long long before = reads_of(a);

	linkstore_code(a->f->space, 1, 1, &t);
	a->waiting = 64;
	for (int i = 0; i < 64; i++)
		must(a,
		     link_lookup_async(a->redis, &t, on_looked_up, a, &a->err));
	run_loop(a);
	assert_int_equal(reads_of(a) - before, 1 + 1); /* one more for INFO */
}

static void on_renewed(void *arg, const struct link_renewal *renewal,
		       const struct error *err)
{
	struct async_fixture *a = arg;

	if (err)
		fail_msg("%s", err->text);
	a->left = renewal->left;
	count_down_waiting(a);
}

static void a_link_is_renewed(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);
	struct link_target t = store_link(a->f, &block, 3);
	Shortloop__Link link = empty_link();
	char words[128];

	snprintf(words, sizeof(words), "PEXPIRE l:{s5:0}:%s 5000", t.code);
	redis_server_number(&a->f->server, words);
	must(a, link_prepare(&block, 3, &link, &a->err));
	a->waiting = 1;
	must(a, link_renew_async(a->redis, &t, &link, on_renewed, a, &a->err));
	run_loop(a);
	assert_true(a->left == CLOCK_DAY);
}

static void on_opened(void *arg, int64_t end, const struct error *err)
{
	struct async_fixture *a = arg;

	if (err)
		fail_msg("%s", err->text);
	assert_true(end > 0);
	count_down_waiting(a);
}

static void on_granted(void *arg, const struct grant *grant,
		       const struct error *err)
{
	struct async_fixture *a = arg;

	if (err)
		fail_msg("%s", err->text);
	a->block = block_of(a->f, grant, a->f->day);
	must(a, block_open_async(a->redis, &a->block, on_opened, a, &a->err));
}

static void a_block_is_granted_and_opened(void **state)
{
	struct async_fixture *a = *state;
	struct grant_request request = {
		.space = a->f->space,
		.ttl = a->f->day,
		.blocks = 1,
		.name = "a test",
	};

	a->waiting = 1;
	must(a, grant_blocks_async(a->redis, &request, on_granted, a, &a->err));
	run_loop(a);
	assert_int_equal(redis_server_number(&a->f->server, "EXISTS m:{s5:0}"),
			 1);
}

/* This answer comes after everything that was sent before. */
static void on_answer(void *arg, const struct error *err)
{
	if (err)
		fail_msg("%s", err->text);
	count_down_waiting(arg);
}

static void created_links_are_counted_in_the_ledger(void **state)
{
	struct async_fixture *a = *state;
	struct space_ledger ledger;

	must(a, space_count_created_async(a->redis, a->f->space, 5, &a->err));
	must(a, space_count_created_async(a->redis, a->f->space, 7, &a->err));
	a->waiting = 1;
	must(a, space_check_async(a->redis, a->f->space, SPACE_TO_READ,
				  on_answer, a, &a->err));
	run_loop(a);
	must(a, space_read_ledger(a->f->server.redis, a->f->space, &ledger,
				  &a->err));
	assert_int_equal(ledger.days[0].links_created, 12);
}

static void on_checked(void *arg, const struct error *err)
{
	struct async_fixture *a = arg;

	if (err)
		a->err = *err;
	a->failed += err != NULL;
	count_down_waiting(a);
}

static void a_space_that_is_gone_is_noticed(void **state)
{
	struct async_fixture *a = *state;

	a->waiting = 1;
	must(a, space_check_async(a->redis, a->f->space, SPACE_TO_ISSUE,
				  on_checked, a, &a->err));
	run_loop(a);
	assert_int_equal(a->failed, 0);
	redis_server_number(&a->f->server, "DEL space:{s5} cursor:{s5}");
	a->waiting = 1;
	must(a, space_check_async(a->redis, a->f->space, SPACE_TO_ISSUE,
				  on_checked, a, &a->err));
	run_loop(a);
	assert_int_equal(a->failed, 1);
	assert_int_equal(a->err.code, ERROR_NOTFOUND);
}

static void each_link_of_a_batch_has_its_own_deadline(void **state)
{
	struct async_fixture *a = *state;
	struct link_block block = open_block(a->f, a->f->day);

	queue_link(a, &block, 0);
	queue_until(a, &block, 1, clock_real_ms() - 50);
	queue_until(a, &block, 2, clock_real_ms() + 5000);
	run_loop(a);
	assert_int_equal(a->stored, 2);
	assert_int_equal(a->late, 1);
	assert_int_equal(read_link_pttl(a->f, &a->target) > 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASYNC(links_of_one_turn_and_block_are_one_script),
		ASYNC(a_full_script_does_not_wait_for_the_end_of_the_turn),
		ASYNC(a_full_script_for_a_lost_redis_fails_at_the_end),
		ASYNC(more_than_a_batch_of_links_are_several_scripts),
		ASYNC(links_of_two_blocks_are_told_apart),
		ASYNC(a_taken_code_fails_alone),
		ASYNC(a_link_of_which_all_is_zero_is_stored),
		ASYNC(links_queued_at_the_end_are_answered),
		ASYNC(a_redis_that_is_away_fails_what_is_queued),
		ASYNC(a_look_up_finds_the_link),
		ASYNC(a_look_up_finds_that_there_is_none),
		ASYNC(look_ups_of_one_turn_leave_in_one_write),
		ASYNC(a_link_is_renewed),
		ASYNC(a_block_is_granted_and_opened),
		ASYNC(created_links_are_counted_in_the_ledger),
		ASYNC(a_space_that_is_gone_is_noticed),
		ASYNC(each_link_of_a_batch_has_its_own_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
