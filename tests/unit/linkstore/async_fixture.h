/* async_fixture.h - the fixture with an event loop and a connection. */
#ifndef TESTS_UNIT_LINKSTORE_ASYNC_FIXTURE_H
#define TESTS_UNIT_LINKSTORE_ASYNC_FIXTURE_H

#include "linkstore/block/link_writer.h"
#include "linkstore/link/link_editor.h"
#include "tests/unit/linkstore/fixture.h"

struct async_fixture {
	struct fixture *f;
	struct loop *loop;
	struct redis_async *redis;
	struct link_writer *writer;
	struct link_editor *editor;
	struct loop_timer *timeout;
	struct link_block block;
	int waiting, stored, refused, late, failed;
	struct error err;
	struct link_target target;
	enum link_outcome outcome;
	int64_t left;
	bool renew;
};

static inline void on_timeout(void *arg)
{
	(void)arg;
	fail_msg("nothing happened within 10 s");
}

static inline void on_state(void *arg, bool up, const struct error *err)
{
	struct async_fixture *a = arg;

	(void)err;
	if (up)
		loop_stop(a->loop);
}

static inline void run_loop(struct async_fixture *a)
{
	loop_timer_set(a->timeout, 10000);
	assert_int_equal(loop_run(a->loop, &a->err), 0);
}

static inline int setup_async(void **state)
{
	struct async_fixture *a = calloc(1, sizeof(*a));

	setup_fixture(state);
	a->f = *state;
	a->loop = loop_new(&a->err);
	a->timeout = loop_timer_new(a->loop, on_timeout, a, &a->err);
	a->redis = redis_async_new(a->loop, &a->f->server.config,
				   linkstore_scripts(a->f->store), on_state, a,
				   &a->err);
	a->writer = link_writer_new(a->loop, a->redis, &a->err);
	a->editor = link_editor_new(a->loop, a->redis, &a->err);
	assert_non_null(a->writer);
	assert_non_null(a->editor);
	run_loop(a);
	*state = a;
	return 0;
}

static inline int teardown_async(void **state)
{
	struct async_fixture *a = *state;
	struct fixture *f = a->f;
	void *inner = f;

	link_writer_free(a->writer);
	link_editor_free(a->editor);
	redis_async_free(a->redis);
	loop_free(a->loop);
	free(a);
	return teardown_fixture(&inner);
}

static inline void count_down_waiting(struct async_fixture *a)
{
	if (--a->waiting == 0)
		loop_stop(a->loop);
}

#define ASYNC(name)                                                            \
	cmocka_unit_test_setup_teardown(name, setup_async, teardown_async)

#endif
