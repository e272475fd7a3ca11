#include "allocator/redis_reserve.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	READ_EVERY_MS = 1000
};

struct redis_reserve {
	uint64_t percent;
	_Atomic bool reached;
	struct metric *metric;
	struct log *log;
	/* Used by the reading thread only. */
	struct loop_timer *timer;
	struct redis_async *redis;
};

struct redis_reserve *redis_reserve_new(int64_t percent, struct metrics *m,
					struct log *log, struct error *err)
{
	struct redis_reserve *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->percent = (uint64_t)percent;
	r->log = log;
	r->metric = metrics_gauge(
		m, "shortloop_allocator_redis_reserve_reached", NULL,
		"1: Redis has only the reserve left, new links are refused");
	return r;
}

void redis_reserve_free(struct redis_reserve *r)
{
	free(r);
}

/* --- INFO ----------------------------------------------------------------- */

/* The number behind "name:" at the start of a line. */
static bool find_number(const char *info, const char *name, uint64_t *ret)
{
	size_t len = strlen(name);
	char *end;

	for (const char *at = info; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, len) != 0 || at[len] != ':')
			continue;
		*ret = strtoull(at + len + 1, &end, 10);
		return end > at + len + 1;
	}
	return false;
}

bool redis_reserve_parse(const char *info, uint64_t *ret_used,
			 uint64_t *ret_max)
{
	uint64_t used, max, apart = 0;

	if (!find_number(info, "used_memory", &used) ||
	    !find_number(info, "maxmemory", &max))
		return false;
	/* Buffers of replicas and of the append-only file do not count. */
	find_number(info, "mem_not_counted_for_evict", &apart);
	*ret_used = used > apart ? used - apart : 0;
	*ret_max = max;
	return true;
}

/* --- reading -------------------------------------------------------------- */

static void update_reserve_state(struct redis_reserve *r, uint64_t used,
				 uint64_t max)
{
	bool reached = max && used > max - max / 100 * r->percent;

	if (reached == atomic_exchange(&r->reached, reached))
		return;
	metric_set(r->metric, reached);
	if (reached)
		log_warn(r->log,
			 "Redis has only its reserve left: new links are "
			 "rejected",
			 log_int("used_memory", (int64_t)used),
			 log_int("maxmemory", (int64_t)max));
	else
		log_info(r->log,
			 "Redis has room again: new links are accepted");
}

static void on_info(void *arg, const redisReply *reply, const struct error *err)
{
	struct redis_reserve *r = arg;
	uint64_t used, max;

	if (!r->timer)
		return; /* stopped in the meantime */
	if (!err && reply->str && redis_reserve_parse(reply->str, &used, &max))
		update_reserve_state(r, used, max);
	loop_timer_set(r->timer, READ_EVERY_MS);
}

static void on_timer(void *arg)
{
	static const char *argv[] = {"INFO", "memory"};
	static const size_t lens[] = {4, 6};
	struct redis_reserve *r = arg;
	struct error ignored;

	if (redis_async_command(r->redis, 2, argv, lens, on_info, r, &ignored) <
	    0)
		loop_timer_set(r->timer, READ_EVERY_MS);
}

int redis_reserve_start(struct redis_reserve *r, struct loop *loop,
			struct redis_async *redis, struct error *err)
{
	if (!r->percent)
		return 0;
	r->redis = redis;
	r->timer = loop_timer_new(loop, on_timer, r, err);
	if (!r->timer)
		return -1;
	loop_timer_set(r->timer, 0);
	return 0;
}

void redis_reserve_stop(struct redis_reserve *r)
{
	loop_timer_free(r->timer);
	r->timer = NULL;
}

bool redis_reserve_is_reached(const struct redis_reserve *r)
{
	return atomic_load_explicit(&r->reached, memory_order_relaxed);
}
