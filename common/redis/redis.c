#include "common/redis/redis.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "common/buf.h"
#include "common/redis/values.h"
#include "common/redis/wire.h"

struct redis {
	const struct redis_config *config;
	redisContext *context; /* NULL: not connected */
	size_t owed;	       /* replies to commands appended */
	bool asked_apart, apart;
	struct buf out;
};

static struct timeval to_timeval(int64_t ms)
{
	return (struct timeval){ms / 1000, ms % 1000 * 1000};
}

struct redis *redis_new(const struct redis_config *config, struct error *err)
{
	struct redis_address address;
	struct redis *r;

	if (redis_address_parse(config->address, &address, err))
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->config = config;
	return r;
}

static void drop_connection(struct redis *r)
{
	if (r->context)
		redisFree(r->context);
	r->context = NULL;
	r->owed = 0;
	r->asked_apart = false;
}

void redis_free(struct redis *r)
{
	if (!r)
		return;
	drop_connection(r);
	buf_free(&r->out);
	free(r);
}

/* hiredis has the system's words for a timeout: "Resource temporarily
 * unavailable". */
static bool timed_out(const redisContext *context, int sys)
{
	return context->err == REDIS_ERR_IO &&
	       (sys == EAGAIN || sys == EWOULDBLOCK || sys == ETIMEDOUT);
}

/* The connection is in doubt: whatever was under way is lost. */
static int fail(struct redis *r, struct error *err)
{
	int sys = errno;

	if (r->context && timed_out(r->context, sys))
		error_set_retriable(err, ERROR_REMOTE, "redis %s: no answer",
				    r->config->address);
	else
		error_set_retriable(
			err, ERROR_REMOTE, "redis %s: %s", r->config->address,
			r->context ? r->context->errstr : "out of memory");
	drop_connection(r);
	return -1;
}

/* --- connecting ----------------------------------------------------------- */

static int send_command(struct redis *r, int argc, const char **argv,
			const size_t *lens, struct error *err)
{
	buf_reset(&r->out);
	redis_wire_command(&r->out, argc, argv, lens);
	if (r->out.failed)
		return error_set_nomem(err);
	if (redisAppendFormattedCommand(r->context, r->out.data, r->out.len))
		return fail(r, err);
	return 0;
}

/* The next reply, or NULL: the connection is then gone. */
static redisReply *take(struct redis *r, struct error *err)
{
	void *reply = NULL;

	if (redisGetReply(r->context, &reply) == REDIS_OK && reply)
		return reply;
	fail(r, err);
	return NULL;
}

/* Hands a reply out, or turns an error reply into an error. */
static int hand_out(redisReply *reply, redisReply **ret_reply,
		    struct error *err)
{
	if (reply->type == REDIS_REPLY_ERROR) {
		redis_error_reply(reply, err);
		freeReplyObject(reply);
		return -1;
	}
	*ret_reply = reply;
	return 0;
}

/* A command whose answer is only good or bad. */
static int say(struct redis *r, int argc, const char **argv, struct error *err)
{
	redisReply *reply;

	if (send_command(r, argc, argv, NULL, err))
		return -1;
	reply = take(r, err);
	if (!reply || hand_out(reply, &reply, err))
		return -1;
	freeReplyObject(reply);
	return 0;
}

static int log_in(struct redis *r, struct error *err)
{
	const struct redis_config *c = r->config;
	char database[24];

	if (c->password && c->username) {
		const char *auth[] = {"AUTH", c->username, c->password};

		if (say(r, 3, auth, err))
			return -1;
	} else if (c->password) {
		const char *auth[] = {"AUTH", c->password};

		if (say(r, 2, auth, err))
			return -1;
	}
	if (c->database) {
		const char *select[] = {"SELECT", database};

		snprintf(database, sizeof(database), "%lld",
			 (long long)c->database);
		return say(r, 2, select, err);
	}
	return 0;
}

static int connect_now(struct redis *r, struct error *err)
{
	struct timeval timeout = to_timeval(r->config->connect_timeout);
	struct redis_address address;

	if (r->context)
		return 0;
	if (redis_address_parse(r->config->address, &address, err))
		return -1;
	r->context =
		address.port
			? redisConnectWithTimeout(address.host, address.port,
						  timeout)
			: redisConnectUnixWithTimeout(address.host, timeout);
	if (!r->context || r->context->err)
		return fail(r, err);
	if (address.port)
		redisEnableKeepAlive(r->context);
	timeout = to_timeval(r->config->command_timeout);
	if (redisSetTimeout(r->context, timeout) != REDIS_OK)
		return fail(r, err);
	if (log_in(r, err)) {
		drop_connection(r);
		return -1;
	}
	return 0;
}

/* --- commands ------------------------------------------------------------- */

int redis_command(struct redis *r, int argc, const char **argv,
		  const size_t *lens, redisReply **ret_reply, struct error *err)
{
	redisReply *reply;

	if (connect_now(r, err) || send_command(r, argc, argv, lens, err))
		return -1;
	reply = take(r, err);
	return reply ? hand_out(reply, ret_reply, err) : -1;
}

static int send_eval(struct redis *r, const struct redis_script *script,
		     bool whole, int keys, int argc, const char **argv,
		     const size_t *lens, struct error *err)
{
	buf_reset(&r->out);
	redis_wire_eval_head(&r->out, script, whole, argc);
	redis_wire_eval_tail(&r->out, keys, argc, argv, lens);
	if (r->out.failed)
		return error_set_nomem(err);
	if (redisAppendFormattedCommand(r->context, r->out.data, r->out.len))
		return fail(r, err);
	return 0;
}

int redis_eval(struct redis *r, const struct redis_script *script, int keys,
	       int argc, const char **argv, const size_t *lens,
	       redisReply **ret_reply, struct error *err)
{
	redisReply *reply;

	if (connect_now(r, err) ||
	    send_eval(r, script, false, keys, argc, argv, lens, err))
		return -1;
	reply = take(r, err);
	if (!reply)
		return -1;
	if (redis_is_noscript(reply)) {
		freeReplyObject(reply);
		if (send_eval(r, script, true, keys, argc, argv, lens, err))
			return -1;
		reply = take(r, err);
	}
	return reply ? hand_out(reply, ret_reply, err) : -1;
}

int redis_append(struct redis *r, int argc, const char **argv,
		 const size_t *lens, struct error *err)
{
	if (connect_now(r, err) || send_command(r, argc, argv, lens, err))
		return -1;
	r->owed++;
	return 0;
}

int redis_append_eval(struct redis *r, const struct redis_script *script,
		      int keys, int argc, const char **argv, const size_t *lens,
		      struct error *err)
{
	if (connect_now(r, err) ||
	    send_eval(r, script, false, keys, argc, argv, lens, err))
		return -1;
	r->owed++;
	return 0;
}

static int no_reply_owed(const struct redis *r, struct error *err)
{
	return error_set(err, ERROR_REMOTE, "redis %s: no reply is owed",
			 r->config->address);
}

int redis_take_reply(struct redis *r, redisReply **ret_reply, struct error *err)
{
	if (r->owed == 0)
		return no_reply_owed(r, err);
	r->owed--;
	*ret_reply = take(r, err);
	return *ret_reply ? 0 : -1;
}

int redis_take_answer(struct redis *r, redisReply **ret_reply,
		      struct error *err)
{
	redisReply *reply = NULL;

	if (redis_take_reply(r, &reply, err) || !reply)
		return -1;
	if (!redis_is_wrongtype(reply))
		return hand_out(reply, ret_reply, err);
	*ret_reply = reply;
	return 0;
}

int redis_flush(struct redis *r, struct error *err)
{
	int done = 0;

	while (r->context && !done)
		if (redisBufferWrite(r->context, &done) != REDIS_OK)
			return fail(r, err);
	return 0;
}

int redis_take_values(struct redis *r, redis_value_fn *fn, void *arg,
		      struct error *err)
{
	struct value_sink sink = {.fn = fn, .arg = arg};
	redisReply *reply;

	if (r->owed == 0)
		return no_reply_owed(r, err);
	r->owed--;
	values_begin(r->context, &sink);
	reply = take(r, err);
	if (!reply)
		return -1;
	values_end(r->context);
	if (sink.nested)
		return error_set(err, ERROR_PROTOCOL,
				 "redis %s: an answer with arrays in an array",
				 r->config->address);
	return 0;
}

int redis_keeps_slots_apart(struct redis *r, bool *ret_apart, struct error *err)
{
	const char *argv[] = {"INFO", "cluster"};
	redisReply *reply;

	if (!r->asked_apart) {
		if (redis_command(r, 2, argv, NULL, &reply, err))
			return -1;
		r->apart = reply->type == REDIS_REPLY_STRING &&
			   strstr(reply->str, "cluster_enabled:1");
		r->asked_apart = true;
		freeReplyObject(reply);
	}
	*ret_apart = r->apart;
	return 0;
}
