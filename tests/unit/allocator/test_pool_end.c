/* The end of a block pool: granted blocks go back, and the caller is notified
 * when all have. */
#include "tests/unit/allocator/pool_world.h"
#include "tests/unit/linkstore/sent.h"

#include "allocator/block_pool/class_pool.h"

static void on_closed(void *arg)
{
	struct world *w = arg;

	w->closed++;
}

static void a_pool_that_closes_hands_its_blocks_back(void **state)
{
	struct world *w = *state;

	w->f->config.grant_blocks = 3;
	open_pool(w, 3600 * 1000, 10);
	take_code(w);
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->closed, 0);
	until(w, w->closed);
	assert_int_equal(read_metric(w->counts.blocks_returned), 2);
	assert_int_equal(query_redis_number(w, "ZCARD pool:{s5}"), 1);
	assert_int_equal(read_metric(w->counts.held), 0);
	request_code(w);
	assert_string_equal(w->last.text, "the allocator is stopping");
	assert_true(w->last.retriable);
	assert_int_equal(read_metric(w->counts.grants), 1);
	run_loop_turns(w);
	assert_int_equal(w->closed, 1);
}

static void a_grant_that_comes_at_the_end_is_handed_back(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->answered, 1);
	assert_string_equal(w->last.text, "the allocator is stopping");
	assert_int_equal(w->closed, 0);
	until(w, w->closed);
	assert_int_equal(w->issued, 0);
	assert_int_equal(read_metric(w->counts.blocks_returned), 1);
	assert_int_equal(query_redis_number(w, "ZCARD pool:{s5}"), 1);
}

static void a_pool_without_blocks_closes_at_once(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->closed, 1);
}

/* The end waits only for the answer to the grant. */
static void a_grant_that_fails_at_the_end_is_waited_for(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	freeReplyObject(redis_server_ask(&w->f->server, "DEL space:{s5}"));
	request_code(w);
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->answered, 1);
	assert_int_equal(w->closed, 0);
	until(w, w->closed);
	assert_int_equal(read_metric(w->counts.grants_failed), 1);
	assert_int_equal(w->issued, 0);
	assert_int_equal(redis_async_pending(w->a->redis), 0);
}

static void stop_redis(struct fixture *f)
{
	kill(f->server.pid, SIGSTOP);
}

/* Redis does not process the opens before the pool closes. */
static void blocks_that_are_being_opened_at_the_end_go_back(void **state)
{
	struct world *w = *state;

	w->f->config.grant_blocks = 3;
	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	act_before(w->f, "m:{s5:0}", stop_redis);
	until(w, read_metric(w->counts.grants) == 1);
	assert_command_was_met();
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->answered, 1);
	assert_int_equal(w->closed, 0);
	kill(w->f->server.pid, SIGCONT);
	until(w, w->closed);
	assert_int_equal(redis_async_pending(w->a->redis), 0);
	assert_int_equal(read_metric(w->counts.blocks_returned), 3);
	assert_int_equal(read_metric(w->counts.held), 0);
	run_loop_turns(w);
	assert_int_equal(w->closed, 1);
	assert_int_equal(read_metric(w->counts.grants), 1);
}

static void the_slowest_of_all_classes_is_waited_for(void **state)
{
	struct world *w = *state;
	struct class_pool *day;

	open_pool(w, 3600 * 1000, 10);
	take_code(w);
	day = w->day;
	w->day = block_pool_class(w->pool, w->f->space, w->f->never);
	request_code(w);
	block_pool_close(w->pool, on_closed, w);
	assert_true(class_pool_is_busy(w->day));
	until(w, w->closed);
	assert_false(class_pool_is_busy(day));
	assert_false(class_pool_is_busy(w->day));
	assert_int_equal(redis_async_pending(w->a->redis), 0);
	/* A code of the other block was used. */
	assert_int_equal(read_metric(w->counts.blocks_returned), 1);
	assert_int_equal(w->closed, 1);
}

/* The range has no request under way that would report its end. */
static void a_grant_that_cannot_be_handed_back_is_let_go(void **state)
{
	struct world *w = *state;
	int64_t before = w->f->server.config.pending_max;

	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	block_pool_close(w->pool, on_closed, w);
	w->f->server.config.pending_max = 0;
	until(w, w->closed);
	w->f->server.config.pending_max = before;
	assert_int_equal(read_metric(w->counts.grants), 1);
	assert_int_equal(read_metric(w->counts.blocks_returned), 0);
	assert_int_equal(w->closed, 1);
	assert_int_equal(query_redis_number(w, "ZCARD issued:{s5}"), 1);
}

static void close_on_code(void *arg, const struct link_block *block,
			  uint32_t offset, const struct error *err)
{
	struct request *r = arg;

	on_code(arg, block, offset, err);
	block_pool_close(r->w->pool, on_closed, r->w);
}

/* No code is left then, so the next grant would be due. */
static void who_gets_a_code_may_close_the_pool(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	w->requests[0].request.fn = close_on_code;
	until(w, w->closed);
	assert_int_equal(w->issued, 1);
	assert_int_equal(redis_async_pending(w->a->redis), 0);
	assert_int_equal(read_metric(w->counts.grants), 1);
	assert_int_equal(query_redis_number(w, "GET cursor:{s5}"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(a_pool_that_closes_hands_its_blocks_back),
		HERE(a_grant_that_comes_at_the_end_is_handed_back),
		HERE(a_pool_without_blocks_closes_at_once),
		HERE(a_grant_that_fails_at_the_end_is_waited_for),
		HERE(blocks_that_are_being_opened_at_the_end_go_back),
		HERE(the_slowest_of_all_classes_is_waited_for),
		HERE(a_grant_that_cannot_be_handed_back_is_let_go),
		HERE(who_gets_a_code_may_close_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
