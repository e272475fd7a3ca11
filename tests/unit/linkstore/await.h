/*
 * await.h - calls of linkstore/ on a loop, with a wait for each: a test can
 * make one call after the other.  The arguments and errors are those of the
 * calls; what a call passes to its callback is copied to ret_...
 */
#ifndef TESTS_UNIT_LINKSTORE_AWAIT_H
#define TESTS_UNIT_LINKSTORE_AWAIT_H

#include <stdlib.h>

#include "common/drop_const.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/block.h"
#include "linkstore/block/link_writer.h"
#include "linkstore/block/lookup.h"
#include "linkstore/block/renew.h"
#include "linkstore/link/edit.h"
#include "linkstore/link/link_editor.h"
#include "linkstore/link/visit_count.h"
#include "linkstore/space/grant.h"
#include "linkstore/standalone.h"

#define AWAIT_CONNECTION_MS 10000

struct await {
	struct loop *loop;
	struct redis_async *redis;
	struct link_writer *writer;
	struct link_editor *editor;
	struct loop_timer *timer;
	bool answered;
	int status;
	struct error *err;
	void *value; /* where the answer is stored */
};

static inline void await_stop(void *arg)
{
	struct await *a = arg;

	loop_stop(a->loop);
}

static inline void await_on_state(void *arg, bool up, const struct error *err)
{
	(void)up;
	(void)err;
	await_stop(arg);
}

static inline void await_free(struct await *a)
{
	if (!a)
		return;
	link_writer_free(a->writer);
	link_editor_free(a->editor);
	redis_async_free(a->redis);
	loop_timer_free(a->timer);
	loop_free(a->loop);
	free(a);
}

/* Both arguments must outlive it.  Returns NULL if out of memory. */
static inline struct await *await_new(const struct redis_config *config,
				      const struct redis_scripts *scripts)
{
	struct await *a = calloc(1, sizeof(*a));
	struct error err;

	if (!a)
		return NULL;
	a->loop = loop_new(&err);
	if (a->loop) {
		a->timer = loop_timer_new(a->loop, await_stop, a, &err);
		a->redis = redis_async_new(a->loop, config, scripts,
					   await_on_state, a, &err);
	}
	if (a->redis)
		a->writer = link_writer_new(a->loop, a->redis, &err);
	if (a->writer)
		a->editor = link_editor_new(a->loop, a->redis, &err);
	if (a->timer && a->editor)
		return a;
	await_free(a);
	return NULL;
}

static inline void await_run(struct await *a, int64_t ms)
{
	struct error err;

	loop_timer_set(a->timer, ms);
	loop_run(a->loop, &err);
	loop_timer_stop(a->timer);
}

/* The loop notices here that a server ended, or came back, while it did not
 * run. */
static inline void await_connection(struct await *a)
{
	await_run(a, 0);
	if (!redis_async_is_up(a->redis))
		await_run(a, AWAIT_CONNECTION_MS);
}

/* Call it before the call that is waited for: the answer and the error of that
 * call are stored there. */
static inline void await_begin(struct await *a, void *value, struct error *err)
{
	await_connection(a);
	a->answered = false;
	a->status = 0;
	a->value = value;
	a->err = err;
}

/* Waits for the answer; `sent` is what the call returned. */
static inline int await_end(struct await *a, int sent)
{
	if (sent)
		return -1;
	while (!a->answered)
		await_run(a, AWAIT_CONNECTION_MS);
	return a->status;
}

/* Returns true if there is a value. */
static inline bool await_answer(struct await *a, const struct error *err)
{
	a->answered = true;
	loop_stop(a->loop);
	if (!err)
		return true;
	*a->err = *err;
	a->status = -1;
	return false;
}

static inline void await_on_done(void *arg, const struct error *err)
{
	await_answer(arg, err);
}

static inline void await_on_number(void *arg, int64_t number,
				   const struct error *err)
{
	struct await *a = arg;

	if (await_answer(a, err))
		*(int64_t *)a->value = number;
}

/* --- blocks --------------------------------------------------------------- */

static inline void await_on_grant(void *arg, const struct grant *grant,
				  const struct error *err)
{
	struct await *a = arg;

	if (await_answer(a, err))
		*(struct grant *)a->value = *grant;
}

static inline int await_grant(struct await *a,
			      const struct grant_request *request,
			      struct grant *ret_grant, struct error *err)
{
	await_begin(a, ret_grant, err);
	return await_end(a, grant_blocks_async(a->redis, request,
					       await_on_grant, a, err));
}

static inline int await_confirm(struct await *a, const struct link_space *space,
				const struct block_range *blocks,
				struct error *err)
{
	await_begin(a, NULL, err);
	return await_end(a, grant_confirm_async(a->redis, space, blocks,
						await_on_done, a, err));
}

static inline int await_hand_back(struct await *a,
				  const struct link_space *space,
				  const struct block_range *whole,
				  const struct block_range *part,
				  struct error *err)
{
	await_begin(a, NULL, err);
	return await_end(a, grant_hand_back_async(a->redis, space, whole, part,
						  await_on_done, a, err));
}

static inline int await_open(struct await *a, const struct link_block *block,
			     int64_t *ret_end, struct error *err)
{
	await_begin(a, ret_end, err);
	return await_end(
		a, block_open_async(a->redis, block, await_on_number, a, err));
}

static inline int await_close_own(struct await *a,
				  const struct link_block *block,
				  struct error *err)
{
	await_begin(a, NULL, err);
	return await_end(a, block_close_own_async(a->redis, block,
						  await_on_done, a, err));
}

/* --- links ---------------------------------------------------------------- */

static inline int await_create(struct await *a, const struct link_block *block,
			       const char *code, const Shortloop__Link *link,
			       int64_t deadline, int64_t *ret_expires,
			       struct error *err)
{
	await_begin(a, ret_expires, err);
	return await_end(a,
			 link_writer_create(a->writer, block, code, link,
					    deadline, await_on_number, a, err));
}

/* Returns a copy that the caller frees: the links of answers are valid only
 * during their callback. */
static inline Shortloop__Link *await_copy(const Shortloop__Link *link)
{
	size_t len;
	uint8_t *record;
	Shortloop__Link *copy;

	if (!link)
		return NULL;
	len = shortloop__link__get_packed_size(link);
	record = malloc(len + 1);
	if (!record)
		abort();
	shortloop__link__pack(link, record);
	copy = shortloop__link__unpack(NULL, len, record);
	free(record);
	return copy;
}

static inline void await_on_created(void *arg,
				    const struct standalone_result *result,
				    const struct error *err)
{
	struct await *a = arg;
	struct standalone_result *ret = a->value;

	if (!await_answer(a, err))
		return;
	*ret = *result;
	ret->existing = await_copy(result->existing);
}

/* *ret_result is valid until await_release of its `existing`. */
static inline int
await_standalone(struct await *a, const struct link_target *target,
		 const Shortloop__Link *link, int64_t deadline,
		 struct standalone_result *ret_result, struct error *err)
{
	await_begin(a, ret_result, err);
	return await_end(a, standalone_create_async(a->redis, target, link,
						    deadline, await_on_created,
						    a, err));
}

static inline void await_on_lookup(void *arg, const struct link_answer *answer,
				   const struct error *err)
{
	struct await *a = arg;
	struct link_answer *ret = a->value;

	if (!await_answer(a, err))
		return;
	*ret = *answer;
	ret->link = await_copy(answer->link);
}

/* *ret_answer is valid until await_release of its `link`. */
static inline int await_lookup(struct await *a,
			       const struct link_target *target,
			       struct link_answer *ret_answer,
			       struct error *err)
{
	await_begin(a, ret_answer, err);
	return await_end(a, link_lookup_async(a->redis, target, await_on_lookup,
					      a, err));
}

static inline void await_release(const Shortloop__Link **link)
{
	if (*link)
		shortloop__link__free_unpacked(drop_const(*link), NULL);
	*link = NULL;
}

static inline void await_on_renewed(void *arg,
				    const struct link_renewal *renewal,
				    const struct error *err)
{
	struct await *a = arg;

	if (await_answer(a, err))
		*(struct link_renewal *)a->value = *renewal;
}

static inline int await_renewal(struct await *a,
				const struct link_target *target,
				const Shortloop__Link *link,
				struct link_renewal *ret, struct error *err)
{
	await_begin(a, ret, err);
	return await_end(a, link_renew_async(a->redis, target, link,
					     await_on_renewed, a, err));
}

static inline int await_renew(struct await *a, const struct link_target *target,
			      const Shortloop__Link *link, int64_t *ret_left,
			      struct error *err)
{
	struct link_renewal renewal = {0};
	int status = await_renewal(a, target, link, &renewal, err);

	*ret_left = renewal.left;
	return status;
}

static inline int await_edit(struct await *a, const struct link_target *target,
			     const Shortloop__Link *before,
			     const Shortloop__Link *after,
			     const struct link_class *ttl, int64_t *ret_expires,
			     struct error *err)
{
	await_begin(a, ret_expires, err);
	return await_end(a, link_editor_edit(a->editor, target, before, after,
					     ttl, await_on_number, a, err));
}

struct await_count {
	enum visit_count result;
	uint64_t used;
};

static inline void await_on_counted(void *arg, enum visit_count result,
				    uint64_t used, const struct error *err)
{
	struct await *a = arg;

	if (await_answer(a, err))
		*(struct await_count *)a->value =
			(struct await_count){result, used};
}

static inline int await_count_visit(struct await *a,
				    const struct link_target *target,
				    uint64_t link_id, uint64_t max,
				    enum visit_count *ret_result,
				    uint64_t *ret_used, struct error *err)
{
	struct await_count count = {.used = 0};
	int status;

	await_begin(a, &count, err);
	status = await_end(a, link_count_visit_async(a->redis, target, link_id,
						     max, await_on_counted, a,
						     err));
	*ret_result = count.result;
	*ret_used = count.used;
	return status;
}

static inline int
await_count_fetch(struct await *a, const struct link_target *target,
		  uint64_t link_id, uint64_t max, uint64_t max_fetches,
		  enum visit_count *ret_result, struct error *err)
{
	struct await_count count = {.used = 0};
	int status;

	await_begin(a, &count, err);
	status = await_end(a, link_count_fetch_async(a->redis, target, link_id,
						     max, max_fetches,
						     await_on_counted, a, err));
	*ret_result = count.result;
	return status;
}

#endif
