#include "allocator/create/id_generator.h"

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
	TRY_EVERY_MS = 500 /* while the lease is not held */
};

struct id_generator {
	unsigned node;
	const struct linkstore *store;
	char holder[NODE_LEASE_HOLDER_MAX];
	struct snowflake *codes, *links;
	struct health_check *check;
	/* Used by the thread that keeps the lease only. */
	struct loop_timer *timer;
	struct redis_async *redis;
};

static int name_holder(struct id_generator *g, const char *holder,
		       struct error *err)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, "getrandom");
	snprintf(g->holder, sizeof(g->holder), "%.70s#%016" PRIx64, holder,
		 random);
	return 0;
}

struct id_generator *id_generator_new(unsigned node,
				      const struct linkstore *store,
				      const char *holder, struct health *health,
				      struct error *err)
{
	struct id_generator *g = calloc(1, sizeof(*g));

	if (!g) {
		error_set_nomem(err);
		return NULL;
	}
	g->node = node;
	g->store = store;
	g->codes = snowflake_new(node, SNOWFLAKE_CODE_SEQUENCE, SNOWFLAKE_LEAD,
				 err);
	if (!g->codes || name_holder(g, holder, err))
		goto fail;
	g->links = snowflake_new(node, SNOWFLAKE_LINK_SEQUENCE, SNOWFLAKE_LEAD,
				 err);
	if (!g->links)
		goto fail;
	g->check = health_register(health, "node");
	health_down(g->check, "the lease on the node is not held yet");
	return g;
fail:
	id_generator_free(g);
	return NULL;
}

void id_generator_free(struct id_generator *g)
{
	if (!g)
		return;
	snowflake_free(g->codes);
	snowflake_free(g->links);
	free(g);
}

/* --- the lease ------------------------------------------------------------ */

static void on_lease(void *arg, int64_t from, int64_t until,
		     const struct error *err)
{
	struct id_generator *g = arg;

	if (!g->timer)
		return; /* stopped in the meantime */
	if (err) {
		health_down(g->check, err->text);
		loop_timer_set(g->timer, TRY_EVERY_MS);
		return;
	}
	snowflake_allow(g->codes, from, until);
	snowflake_allow(g->links, from, until);
	health_up(g->check);
	loop_timer_set(g->timer, KEEP_EVERY_MS);
}

static void on_timer(void *arg)
{
	struct id_generator *g = arg;
	struct error err;

	if (node_lease_keep_async(g->redis, g->store, g->node, g->holder,
				  LEASE_MS, on_lease, g, &err) < 0)
		loop_timer_set(g->timer, TRY_EVERY_MS);
}

int id_generator_start(struct id_generator *g, struct loop *loop,
		       struct redis_async *redis, struct error *err)
{
	g->redis = redis;
	g->timer = loop_timer_new(loop, on_timer, g, err);
	if (!g->timer)
		return -1;
	loop_timer_set(g->timer, 0);
	return 0;
}

void id_generator_redis_up(struct id_generator *g)
{
	if (g->timer)
		loop_timer_set(g->timer, 0);
}

void id_generator_stop(struct id_generator *g)
{
	int64_t codes, links;
	struct error err;

	if (!g->timer)
		return;
	loop_timer_free(g->timer);
	g->timer = NULL;
	/* The last id is known only when no thread makes ids any more. */
	codes = snowflake_end(g->codes);
	links = snowflake_end(g->links);
	node_lease_release_async(g->redis, g->store, g->node, g->holder,
				 codes > links ? codes : links, &err);
}

/* --- ids ------------------------------------------------------------------ */

static int make_snowflake_id(const struct id_generator *g,
			     struct snowflake *from, uint64_t *ret_id,
			     struct error *err)
{
	if (snowflake_next(from, clock_real_ms(), ret_id, err) == 0)
		return 0;
	return error_wrap(err, "node %u", g->node);
}

int id_generator_next_code(struct id_generator *g, uint64_t *ret_snowflake,
			   struct error *err)
{
	return make_snowflake_id(g, g->codes, ret_snowflake, err);
}

int id_generator_next_link_id(struct id_generator *g, uint64_t *ret_link_id,
			      struct error *err)
{
	uint64_t snowflake;

	if (make_snowflake_id(g, g->links, &snowflake, err))
		return -1;
	*ret_link_id = link_id_blockless(snowflake);
	return 0;
}
