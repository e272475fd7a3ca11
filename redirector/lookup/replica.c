#include "redirector/lookup/replica.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often the master is queried for its offset. */
#define SAMPLE_MS 500
/* How soon a replica that is behind is queried again. */
#define AGAIN_MIN_MS 10
#define AGAIN_MAX_MS 250

#define BEHIND "the replica is behind the master, or the master is away"
#define ABANDONED                                                              \
	"the master has gone back to what it was before, and the replica has " \
	"not resynchronised since"

struct replica {
	struct replica_options options;
	struct redis_async *redis;
	struct replica_position position;
	struct loop_timer *timer; /* for the next query; unset: one pends */
	int64_t again;
	char why[sizeof(((struct error *)0)->text)]; /* reason; "": it is up */
	bool told_lag; /* the lag is reported as too large */
	bool stopped;
};

static void ask_master(struct replica *r);
static void ask_replica(struct replica *r);

struct redis_async *replica_redis(const struct replica *r)
{
	return r->redis;
}

int64_t replica_as_of(const struct replica *r)
{
	return r->position.as_of;
}

/* --- offsets -------------------------------------------------------------- */

static const char *why_it_lags(const struct replica *r)
{
	return r->position.stream == REPLICA_STREAM_ABANDONED ? ABANDONED
							      : BEHIND;
}

static void tell_lag(struct replica *r)
{
	int64_t now = loop_now_ms(r->options.loop);
	bool lags = r->position.as_of <= now - r->options.lag_max;

	if (*r->why || lags == r->told_lag)
		return;
	r->told_lag = lags;
	r->options.on_state(r->options.arg, false,
			    lags ? why_it_lags(r) : NULL);
}

static void on_timer(void *arg)
{
	struct replica *r = arg;

	tell_lag(r);
	if (r->position.reached)
		ask_master(r);
	else
		ask_replica(r);
}

static void sample_later(struct replica *r)
{
	int64_t passed = loop_now_ms(r->options.loop) - r->position.asked;

	loop_timer_set(r->timer, passed < SAMPLE_MS && passed >= 0
					 ? SAMPLE_MS - passed
					 : SAMPLE_MS);
}

static void again_later(struct replica *r)
{
	loop_timer_set(r->timer, r->again);
	r->again *= 2;
	if (r->again > AGAIN_MAX_MS)
		r->again = AGAIN_MAX_MS;
}

static bool is_text(const redisReply *reply, const struct error *err)
{
	return !err && reply->type == REDIS_REPLY_STRING;
}

static void on_replica_info(void *arg, const redisReply *reply,
			    const struct error *err)
{
	struct replica *r = arg;

	if (r->stopped)
		return;
	if (!is_text(reply, err)) {
		r->position.reached = true; /* query again, the master first */
		sample_later(r);
	} else if (replica_position_of_replica(&r->position, reply->str)) {
		sample_later(r);
	} else {
		again_later(r);
	}
	tell_lag(r);
}

static void on_master_info(void *arg, const redisReply *reply,
			   const struct error *err)
{
	struct replica *r = arg;

	if (r->stopped)
		return;
	if (is_text(reply, err) &&
	    replica_position_of_master(&r->position, reply->str,
				       r->position.asked)) {
		r->again = AGAIN_MIN_MS;
		ask_replica(r);
		return;
	}
	tell_lag(r);
	sample_later(r);
}

/* Returns false if the query was not sent. */
static bool ask_info(struct replica *r, struct redis_async *redis,
		     redis_reply_fn *fn)
{
	const char *argv[] = {"INFO", "replication"};
	struct error ignored;

	return redis_async_command(redis, 2, argv, NULL, fn, r, &ignored) == 0;
}

static void ask_master(struct replica *r)
{
	r->position.asked = loop_now_ms(r->options.loop);
	if (*r->why || !ask_info(r, r->options.master, on_master_info))
		sample_later(r);
}

static void ask_replica(struct replica *r)
{
	if (ask_info(r, r->redis, on_replica_info))
		return;
	r->position.reached = true;
	sample_later(r);
}

/* --- the connection ------------------------------------------------------- */

static void on_state(void *arg, bool up, const struct error *err)
{
	struct replica *r = arg;

	/* The next connection may be to another replica. */
	replica_position_reset(&r->position);
	r->told_lag = up;
	snprintf(r->why, sizeof(r->why), "%s", up ? "" : err->text);
	r->options.on_state(r->options.arg, up, up ? BEHIND : r->why);
}

/* --- making --------------------------------------------------------------- */

struct replica *replica_new(const struct replica_options *options,
			    struct error *err)
{
	struct replica *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->options = *options;
	replica_position_reset(&r->position);
	snprintf(r->why, sizeof(r->why), "not connected yet");
	r->timer = loop_timer_new(options->loop, on_timer, r, err);
	if (r->timer)
		r->redis = redis_async_new_to_replica(
			options->loop, options->config, options->first,
			on_state, r, err);
	if (!r->redis) {
		replica_free(r);
		return NULL;
	}
	loop_timer_set(r->timer, 0);
	return r;
}

void replica_stop(struct replica *r)
{
	struct redis_async *redis = r ? r->redis : NULL;

	if (!redis)
		return;
	r->stopped = true;
	r->redis = NULL;
	redis_async_free(redis);
}

void replica_free(struct replica *r)
{
	if (!r)
		return;
	replica_stop(r);
	loop_timer_free(r->timer);
	free(r);
}
