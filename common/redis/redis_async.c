#include "common/redis/redis_async.h"

#include <hiredis/async.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/redis/async_adapter.h"
#include "common/redis/async_connection.h"
#include "common/redis/wire.h"

/* One command in flight.  Redis answers in order, so these form a queue. */
struct pending_command {
	struct redis_async *r;
	struct pending_command *prev, *next;
	redis_reply_fn *fn;
	void *arg;
	int64_t deadline;
};

struct redis_async {
	struct loop *loop;
	const struct redis_config *config;
	struct async_connection connection;
	struct loop_timer *deadline_timer; /* timer of the oldest command */
	struct pending_command *first, *last;
	size_t pending_count;
	struct buf out;
};

static void on_deadline(void *arg)
{
	struct redis_async *r = arg;
	int64_t now = loop_now_ms(r->loop);

	if (!r->first || !r->connection.context)
		return;
	if (r->first->deadline > now)
		loop_timer_set(r->deadline_timer, r->first->deadline - now);
	else
		async_connection_give_up(
			&r->connection,
			"no answer within redis.command_timeout");
}

static void enqueue_command(struct redis_async *r, struct pending_command *p)
{
	p->deadline = loop_now_ms(r->loop) + r->config->command_timeout;
	p->prev = r->last;
	p->next = NULL;
	if (r->last)
		r->last->next = p;
	else
		r->first = p;
	r->last = p;
	if (r->pending_count++ == 0)
		loop_timer_set(r->deadline_timer, r->config->command_timeout);
}

static void dequeue_command(struct redis_async *r, struct pending_command *p)
{
	*(p->prev ? &p->prev->next : &r->first) = p->next;
	*(p->next ? &p->next->prev : &r->last) = p->prev;
	r->pending_count--;
}

static void finish_command(struct pending_command *p, const redisReply *reply,
			   const struct error *err)
{
	p->fn(p->arg, err ? NULL : reply, err);
	free(p);
}

static void on_reply(redisAsyncContext *context, void *raw, void *data)
{
	struct pending_command *p = data;
	struct redis_async *r = p->r;
	const redisReply *reply = raw;
	struct error err;

	dequeue_command(r, p);
	if (!reply) {
		/* The connection ends; commands sent from the callbacks that
		 * follow must be refused. */
		async_connection_ending(&r->connection, context);
		err = r->connection.why;
		finish_command(p, NULL, &err);
		return;
	}
	if (reply->type != REDIS_REPLY_ERROR) {
		finish_command(p, reply, NULL);
		return;
	}
	redis_error_reply(reply, &err);
	if (redis_error_is(reply, "READONLY"))
		async_connection_suspect(&r->connection);
	if (redis_error_is(reply, "NOSCRIPT"))
		async_connection_renew(&r->connection, err.text);
	finish_command(p, NULL, &err);
}

int redis_async_check_room(const struct redis_async *r, struct error *err)
{
	if (r->connection.state != CONNECTION_UP) {
		*err = r->connection.why;
		return -1;
	}
	if (r->pending_count < (size_t)r->config->pending_max)
		return 0;
	error_set_retriable(err, ERROR_REMOTE,
			    "redis %s: %zu commands await their answer",
			    r->connection.where, r->pending_count);
	return error_keep_inside(err, REDIS_AWAY);
}

static struct pending_command *pending_new(struct redis_async *r,
					   redis_reply_fn *fn, void *arg)
{
	struct pending_command *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->r = r;
	p->fn = fn;
	p->arg = arg;
	return p;
}

/* Sends what r->out holds.  Takes over p, which may be NULL. */
static int submit_command(struct redis_async *r, struct pending_command *p,
			  struct error *err)
{
	if (!p || r->out.failed) {
		free(p);
		return error_set_nomem(err);
	}
	if (redisAsyncFormattedCommand(r->connection.context, on_reply, p,
				       r->out.data, r->out.len) != REDIS_OK) {
		free(p);
		error_set_retriable(err, ERROR_REMOTE,
				    "redis %s: the connection is ending",
				    r->connection.where);
		return error_keep_inside(err, REDIS_AWAY);
	}
	enqueue_command(r, p);
	return 0;
}

/* --- interface ------------------------------------------------------------ */

static void on_turn_end(void *arg)
{
	struct redis_async *r = arg;

	async_adapter_flush(&r->connection.adapter);
}

static struct redis_async *make_redis_async(struct loop *loop,
					    const struct redis_config *config,
					    struct error *err)
{
	struct redis_async *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->loop = loop;
	r->config = config;
	r->deadline_timer = loop_timer_new(loop, on_deadline, r, err);
	if (r->deadline_timer)
		return r;
	free(r);
	return NULL;
}

/* Takes over `r`, which may be NULL. */
static struct redis_async *open_it(struct redis_async *r,
				   const struct redis_scripts *scripts,
				   size_t first, redis_state_fn *on_state,
				   void *arg, struct error *err)
{
	if (r &&
	    async_connection_open(&r->connection, r->loop, r->config, scripts,
				  first, on_state, arg, err) == 0 &&
	    loop_on_turn_end(r->loop, on_turn_end, r, err) == 0)
		return r;
	redis_async_free(r);
	return NULL;
}

struct redis_async *redis_async_new(struct loop *loop,
				    const struct redis_config *config,
				    const struct redis_scripts *scripts,
				    redis_state_fn *on_state, void *arg,
				    struct error *err)
{
	return open_it(make_redis_async(loop, config, err), scripts, 0,
		       on_state, arg, err);
}

struct redis_async *
redis_async_new_to_replica(struct loop *loop, const struct redis_config *config,
			   size_t first, redis_state_fn *on_state, void *arg,
			   struct error *err)
{
	struct redis_async *r = make_redis_async(loop, config, err);

	if (r)
		r->connection.of_replica = true;
	return open_it(r, NULL, first, on_state, arg, err);
}

void redis_async_free(struct redis_async *r)
{
	if (!r)
		return;
	async_connection_close(&r->connection);
	loop_timer_free(r->deadline_timer);
	buf_free(&r->out);
	free(r);
}

bool redis_async_is_up(const struct redis_async *r)
{
	return r->connection.state == CONNECTION_UP;
}

const char *redis_async_run_id(const struct redis_async *r)
{
	return r->connection.run_id;
}

bool redis_async_keeps_slots_apart(const struct redis_async *r)
{
	return r->connection.slots_apart;
}

size_t redis_async_pending(const struct redis_async *r)
{
	return r->pending_count;
}

void redis_async_flush(struct redis_async *r)
{
	async_adapter_flush(&r->connection.adapter);
}

void redis_async_push(struct redis_async *r)
{
	async_adapter_push(&r->connection.adapter);
}

int redis_async_command(struct redis_async *r, int argc, const char **argv,
			const size_t *lens, redis_reply_fn *fn, void *arg,
			struct error *err)
{
	if (redis_async_check_room(r, err))
		return -1;
	buf_reset(&r->out);
	redis_wire_command(&r->out, argc, argv, lens);
	return submit_command(r, pending_new(r, fn, arg), err);
}

int redis_async_eval(struct redis_async *r, const struct redis_script *script,
		     int keys, int argc, const char **argv, const size_t *lens,
		     redis_reply_fn *fn, void *arg, struct error *err)
{
	if (redis_async_check_room(r, err))
		return -1;
	buf_reset(&r->out);
	redis_wire_eval(&r->out, script, keys, argc, argv, lens);
	return submit_command(r, pending_new(r, fn, arg), err);
}
