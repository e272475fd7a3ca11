#include "allocator/create/ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "codespace/link_id.h"
#include "codespace/snowflake.h"
#include "common/clock.h"
#include "linkstore/node_lease.h"

enum {
	LEASE_MS = 10000,
	KEEP_EVERY_MS = 3000,
	TRY_EVERY_MS = 500 /* while it is not ours */
};

struct create_ids {
	unsigned node;
	const struct linkstore *store;
	char holder[NODE_LEASE_HOLDER_MAX];
	struct snowflake *codes, *links;
	struct health_check *check;
	/* Of the thread that keeps the lease: */
	struct loop_timer *timer;
	struct redis_async *redis;
};

static int name_holder(struct create_ids *ids, const char *holder,
		       struct error *err)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, "getrandom");
	snprintf(ids->holder, sizeof(ids->holder), "%.70s#%016" PRIx64, holder,
		 random);
	return 0;
}

struct create_ids *create_ids_new(unsigned node, const struct linkstore *store,
				  const char *holder, struct health *health,
				  struct error *err)
{
	struct create_ids *ids = calloc(1, sizeof(*ids));

	if (!ids) {
		error_set_nomem(err);
		return NULL;
	}
	ids->node = node;
	ids->store = store;
	ids->codes = snowflake_new(node, SNOWFLAKE_CODE_SEQUENCE,
				   SNOWFLAKE_LEAD, err);
	if (!ids->codes || name_holder(ids, holder, err))
		goto fail;
	ids->links = snowflake_new(node, SNOWFLAKE_LINK_SEQUENCE,
				   SNOWFLAKE_LEAD, err);
	if (!ids->links)
		goto fail;
	ids->check = health_register(health, "node");
	health_down(ids->check, "the lease on the node is not held yet");
	return ids;
fail:
	create_ids_free(ids);
	return NULL;
}

void create_ids_free(struct create_ids *ids)
{
	if (!ids)
		return;
	snowflake_free(ids->codes);
	snowflake_free(ids->links);
	free(ids);
}

/* --- the lease ------------------------------------------------------------ */

static void on_lease(void *arg, int64_t from, int64_t until,
		     const struct error *err)
{
	struct create_ids *ids = arg;

	if (!ids->timer)
		return; /* it was given up meanwhile */
	if (err) {
		health_down(ids->check, err->text);
		loop_timer_set(ids->timer, TRY_EVERY_MS);
		return;
	}
	snowflake_allow(ids->codes, from, until);
	snowflake_allow(ids->links, from, until);
	health_up(ids->check);
	loop_timer_set(ids->timer, KEEP_EVERY_MS);
}

static void on_timer(void *arg)
{
	struct create_ids *ids = arg;
	struct error err;

	if (node_lease_keep_async(ids->redis, ids->store, ids->node,
				  ids->holder, LEASE_MS, on_lease, ids,
				  &err) < 0)
		loop_timer_set(ids->timer, TRY_EVERY_MS);
}

int create_ids_start(struct create_ids *ids, struct loop *loop,
		     struct redis_async *redis, struct error *err)
{
	ids->redis = redis;
	ids->timer = loop_timer_new(loop, on_timer, ids, err);
	if (!ids->timer)
		return -1;
	loop_timer_set(ids->timer, 0);
	return 0;
}

void create_ids_stop(struct create_ids *ids)
{
	struct error err;

	if (!ids->timer)
		return;
	loop_timer_free(ids->timer);
	ids->timer = NULL;
	/* What was made lies no further ahead of the clock than the lead. */
	node_lease_release_async(ids->redis, ids->store, ids->node, ids->holder,
				 clock_real_ms() + SNOWFLAKE_LEAD + 1, &err);
}

/* --- ids ------------------------------------------------------------------ */

static int next(const struct create_ids *ids, struct snowflake *from,
		uint64_t *ret_id, struct error *err)
{
	if (snowflake_next(from, clock_real_ms(), ret_id, err) == 0)
		return 0;
	/* A space that is full is ERROR_BUSY, and this will pass. */
	error_wrap(err, "node %u", ids->node);
	err->code = ERROR_REMOTE;
	return -1;
}

int create_ids_code(struct create_ids *ids, uint64_t *ret_snowflake,
		    struct error *err)
{
	return next(ids, ids->codes, ret_snowflake, err);
}

int create_ids_link(struct create_ids *ids, uint64_t *ret_link_id,
		    struct error *err)
{
	uint64_t snowflake;

	if (next(ids, ids->links, &snowflake, err))
		return -1;
	*ret_link_id = link_id_blockless(snowflake);
	return 0;
}
