#include "common/redis/redis.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/redis/script_loading.h"
#include "common/redis/targets.h"
#include "common/redis/wire.h"

struct redis {
	const struct redis_config *config;
	const struct redis_scripts *scripts; /* NULL: none */
	redisContext *context;		     /* NULL: not connected */
	size_t owed;			     /* replies to commands appended */
	struct redis_targets targets;
	const char *where;	     /* its current or last address */
	struct redis_address master; /* as named by a sentinel */
	char run_id[REDIS_RUN_ID_SIZE];
	int64_t role_asked; /* monotonic ms */
	bool useless; /* the server is now a replica, or dropped the scripts */
	bool asked_apart, apart;
	struct buf out;
};

static struct timeval to_timeval(int64_t ms)
{
	return (struct timeval){ms / 1000, ms % 1000 * 1000};
}

struct redis *redis_new(const struct redis_config *config,
			const struct redis_scripts *scripts, struct error *err)
{
	struct redis *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->config = config;
	r->scripts = scripts;
	r->where = config->address;
	if (redis_targets_parse(config, &r->targets, err) == 0)
		return r;
	free(r);
	return NULL;
}

static void drop_connection(struct redis *r)
{
	if (r->context)
		redisFree(r->context);
	r->context = NULL;
	r->owed = 0;
	r->asked_apart = false;
	r->useless = false;
	r->run_id[0] = '\0';
}

void redis_free(struct redis *r)
{
	if (!r)
		return;
	drop_connection(r);
	redis_targets_free(&r->targets);
	buf_free(&r->out);
	free(r);
}

/* For a timeout hiredis has the system's text: "Resource temporarily
 * unavailable". */
static bool timed_out(const redisContext *context, int sys)
{
	return context->err == REDIS_ERR_IO &&
	       (sys == EAGAIN || sys == EWOULDBLOCK || sys == ETIMEDOUT);
}

/* Closes the connection, whose state is in doubt: pending replies are lost. */
static int fail_connection(struct redis *r, struct error *err)
{
	int sys = errno;

	if (r->context && timed_out(r->context, sys))
		error_set_retriable(err, ERROR_REMOTE, "redis %s: no answer",
				    r->where);
	else
		error_set_retriable(err, ERROR_REMOTE, "redis %s: %s", r->where,
				    r->context ? r->context->errstr
					       : "out of memory");
	drop_connection(r);
	return error_keep_inside(err, REDIS_AWAY);
}

/* --- connecting ----------------------------------------------------------- */

/* Sends what `out` holds. */
static int send_out(struct redis *r, struct error *err)
{
	if (r->out.failed)
		return error_set_nomem(err);
	if (redisAppendFormattedCommand(r->context, r->out.data, r->out.len))
		return fail_connection(r, err);
	return 0;
}

static int send_command(struct redis *r, int argc, const char **argv,
			const size_t *lens, struct error *err)
{
	buf_reset(&r->out);
	redis_wire_command(&r->out, argc, argv, lens);
	return send_out(r, err);
}

/* Returns true if the reply says that this is the wrong server, or that it has
 * dropped the scripts. */
static bool is_useless(const redisReply *reply)
{
	return redis_error_is(reply, "READONLY") ||
	       redis_error_is(reply, "NOSCRIPT");
}

/* Returns the next reply, or NULL: the connection is then closed. */
static redisReply *read_next_reply(struct redis *r, struct error *err)
{
	void *reply = NULL;

	if (redisGetReply(r->context, &reply) == REDIS_OK && reply) {
		r->useless |= is_useless(reply);
		return reply;
	}
	fail_connection(r, err);
	return NULL;
}

/* Returns a reply, or turns an error reply into an error. */
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

/* Sends what `out` holds and returns the answer, which may be an error reply,
 * or NULL. */
static redisReply *ask_out(struct redis *r, struct error *err)
{
	return send_out(r, err) ? NULL : read_next_reply(r, err);
}

static redisReply *send_and_read_reply(struct redis *r, int argc,
				       const char **argv, struct error *err)
{
	buf_reset(&r->out);
	redis_wire_command(&r->out, argc, argv, NULL);
	return ask_out(r, err);
}

/* Sends a command whose answer is only success or failure. */
static int execute_command(struct redis *r, int argc, const char **argv,
			   struct error *err)
{
	redisReply *reply = send_and_read_reply(r, argc, argv, err);

	if (!reply || hand_out(reply, &reply, err))
		return -1;
	freeReplyObject(reply);
	return 0;
}

static int authenticate_user(struct redis *r, const char *username,
			     const char *password, struct error *err)
{
	if (!password)
		return 0;
	if (username)
		return execute_command(
			r, 3, (const char *[]){"AUTH", username, password},
			err);
	return execute_command(r, 2, (const char *[]){"AUTH", password}, err);
}

static int open_connection(struct redis *r, const struct redis_address *a,
			   struct error *err)
{
	struct timeval timeout = to_timeval(r->config->connect_timeout);

	r->where = a->text;
	r->context =
		a->port ? redisConnectWithTimeout(a->host, a->port, timeout)
			: redisConnectUnixWithTimeout(a->host, timeout);
	if (!r->context || r->context->err)
		return fail_connection(r, err);
	if (a->port)
		redisEnableKeepAlive(r->context);
	timeout = to_timeval(r->config->command_timeout);
	if (redisSetTimeout(r->context, timeout) != REDIS_OK)
		return fail_connection(r, err);
	return 0;
}

static int check_version(struct redis *r, struct error *err)
{
	redisReply *reply = send_and_read_reply(
		r, 2, (const char *[]){REDIS_ASK_VERSION}, err);
	int status;

	if (!reply)
		return -1;
	status = redis_check_version(reply, err);
	redis_read_run_id(reply, r->run_id);
	freeReplyObject(reply);
	return status ? error_wrap(err, "redis %s", r->where) : 0;
}

static int check_role(struct redis *r, bool refusal_counts, struct error *err)
{
	redisReply *reply = send_and_read_reply(
		r, 2, (const char *[]){REDIS_ASK_ROLE}, err);
	int status = 0;

	if (!reply)
		return -1;
	r->role_asked = clock_monotonic_ms();
	if (refusal_counts || reply->type != REDIS_REPLY_ERROR)
		status = redis_check_role(reply, err);
	freeReplyObject(reply);
	return status ? error_wrap(err, "redis %s", r->where) : 0;
}

static int load_script(struct redis *r, const struct redis_script *script,
		       struct error *err)
{
	redisReply *reply;
	int status;

	buf_reset(&r->out);
	script_loading_load(&r->out, script);
	reply = ask_out(r, err);
	if (!reply)
		return -1;
	status = script_loading_check_load(reply, script, err);
	freeReplyObject(reply);
	return status;
}

static int load_scripts(struct redis *r, struct error *err)
{
	redisReply *answer;
	int status;

	if (!r->scripts)
		return 0;
	buf_reset(&r->out);
	script_loading_ask(&r->out, r->scripts);
	answer = ask_out(r, err);
	if (!answer)
		return -1;
	status = script_loading_check(answer, r->scripts, err);
	for (size_t i = 0; status == 0 && i < r->scripts->count; i++)
		if (script_loading_lacks(answer, i))
			status = load_script(r, &r->scripts->items[i], err);
	freeReplyObject(answer);
	return status;
}

static int log_in(struct redis *r, struct error *err)
{
	const struct redis_config *c = r->config;
	char database[24];

	if (authenticate_user(r, c->username, c->password, err))
		return -1;
	snprintf(database, sizeof(database), "%lld", (long long)c->database);
	if (c->database &&
	    execute_command(r, 2, (const char *[]){"SELECT", database}, err))
		return -1;
	if (check_version(r, err) || check_role(r, true, err))
		return -1;
	return load_scripts(r, err);
}

static int connect_master(struct redis *r, const struct redis_address *a,
			  struct error *err)
{
	if (open_connection(r, a, err))
		return -1;
	if (log_in(r, err) == 0)
		return 0;
	drop_connection(r);
	return -1;
}

static int ask_sentinel(struct redis *r, const struct redis_address *a,
			struct error *err)
{
	const struct redis_config *c = r->config;
	const char *argv[] = {"SENTINEL", "get-master-addr-by-name",
			      c->master_name};
	redisReply *reply = NULL;
	int status = -1;

	if (open_connection(r, a, err))
		return -1;
	if (authenticate_user(r, c->sentinel_username, c->sentinel_password,
			      err) == 0)
		reply = send_and_read_reply(r, 3, argv, err);
	if (reply) {
		status = redis_parse_master(reply, c, &r->master, err);
		if (status)
			error_wrap(err, "redis %s", r->where);
		freeReplyObject(reply);
	}
	drop_connection(r);
	return status;
}

/* Checks again a server that was the master; if it no longer is, it is left. */
static int check_role_again(struct redis *r, bool refusal_counts,
			    struct error *err)
{
	if (check_role(r, refusal_counts, err) == 0)
		return 0;
	drop_connection(r);
	return -1;
}

/* Connects to the first target that is, or leads to, the master.  On failure
 * the error is that of the last target. */
static int find_master(struct redis *r, struct error *err)
{
	const struct redis_address *a;

	for (size_t i = 0; i < r->targets.count; i++) {
		a = &r->targets.all[i];
		if (r->targets.sentinels) {
			if (ask_sentinel(r, a, err))
				continue;
			a = &r->master;
		}
		if (connect_master(r, a, err) == 0)
			return 0;
	}
	return -1;
}

static int connect_now(struct redis *r, struct error *err)
{
	if (r->useless && r->owed == 0)
		drop_connection(r);
	if (!r->context)
		return find_master(r, err);
	if (r->owed || clock_monotonic_ms() - r->role_asked < ROLE_CHECK_MS)
		return 0;
	/* A server that is busy or loading refuses the next command too. */
	return check_role_again(r, false, err);
}

/* --- commands ------------------------------------------------------------- */

int redis_command(struct redis *r, int argc, const char **argv,
		  const size_t *lens, redisReply **ret_reply, struct error *err)
{
	redisReply *reply;

	if (connect_now(r, err) || send_command(r, argc, argv, lens, err))
		return -1;
	reply = read_next_reply(r, err);
	return reply ? hand_out(reply, ret_reply, err) : -1;
}

static int send_eval(struct redis *r, const struct redis_script *script,
		     int keys, int argc, const char **argv, const size_t *lens,
		     struct error *err)
{
	buf_reset(&r->out);
	redis_wire_eval(&r->out, script, keys, argc, argv, lens);
	return send_out(r, err);
}

int redis_eval(struct redis *r, const struct redis_script *script, int keys,
	       int argc, const char **argv, const size_t *lens,
	       redisReply **ret_reply, struct error *err)
{
	redisReply *reply;

	if (connect_now(r, err) ||
	    send_eval(r, script, keys, argc, argv, lens, err))
		return -1;
	reply = read_next_reply(r, err);
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
	    send_eval(r, script, keys, argc, argv, lens, err))
		return -1;
	r->owed++;
	return 0;
}

static int no_reply_owed(const struct redis *r, struct error *err)
{
	return error_set(err, ERROR_REMOTE, "redis %s: no reply is owed",
			 r->where);
}

int redis_take_reply(struct redis *r, redisReply **ret_reply, struct error *err)
{
	if (r->owed == 0)
		return no_reply_owed(r, err);
	r->owed--;
	*ret_reply = read_next_reply(r, err);
	return *ret_reply ? 0 : -1;
}

int redis_take_answer(struct redis *r, redisReply **ret_reply,
		      struct error *err)
{
	redisReply *reply = NULL;

	if (redis_take_reply(r, &reply, err) || !reply)
		return -1;
	if (!redis_error_is(reply, "WRONGTYPE"))
		return hand_out(reply, ret_reply, err);
	*ret_reply = reply;
	return 0;
}

int redis_flush(struct redis *r, struct error *err)
{
	int done = 0;

	while (r->context && !done)
		if (redisBufferWrite(r->context, &done) != REDIS_OK)
			return fail_connection(r, err);
	return 0;
}

const char *redis_run_id(const struct redis *r)
{
	return r->run_id;
}

static int not_connected(const struct redis *r, struct error *err)
{
	return error_set_retriable(err, ERROR_REMOTE, "redis %s: not connected",
				   r->where);
}

int redis_confirm_master(struct redis *r, struct error *err)
{
	if (!r->context || r->useless || r->owed)
		return not_connected(r, err);
	return check_role_again(r, true, err);
}

/* --- subscribed connections ------------------------------------------- */

int redis_send(struct redis *r, int argc, const char **argv, struct error *err)
{
	if (!r->context)
		return not_connected(r, err);
	if (send_command(r, argc, argv, NULL, err))
		return -1;
	return redis_flush(r, err);
}

static int refuse_long(struct redis *r, struct error *err)
{
	error_set_retriable(err, ERROR_REMOTE,
			    "redis %s: a message is too long", r->where);
	drop_connection(r);
	return -1;
}

/* Returns 1 if more was read, 0 if nothing came. */
static int read_more(struct redis *r, int64_t timeout_ms, struct error *err)
{
	struct pollfd p = {.fd = r->context->fd, .events = POLLIN};

	if (poll(&p, 1, (int)timeout_ms) <= 0)
		return 0;
	if (redisBufferRead(r->context) == REDIS_OK)
		return 1;
	fail_connection(r, err);
	return -1;
}

static int take_read(struct redis *r, void **ret_reply, struct error *err)
{
	if (redisGetReplyFromReader(r->context, ret_reply) == REDIS_OK)
		return 0;
	fail_connection(r, err);
	return -1;
}

/* Returns the number of bytes of an incomplete reply. */
static size_t count_unread_bytes(const struct redis *r)
{
	return r->context->reader->len - r->context->reader->pos;
}

int redis_listen(struct redis *r, int64_t timeout_ms, size_t bytes_max,
		 redisReply **ret_reply, struct error *err)
{
	void *reply = NULL;
	int status;

	if (!r->context)
		return not_connected(r, err);
	/* The last read may have brought more than one reply. */
	if (take_read(r, &reply, err))
		return -1;
	if (!reply) {
		status = read_more(r, timeout_ms, err);
		if (status <= 0)
			return status;
		if (take_read(r, &reply, err))
			return -1;
	}
	if (!reply)
		return count_unread_bytes(r) > bytes_max ? refuse_long(r, err)
							 : 0;
	*ret_reply = reply;
	return 1;
}

/* --- replies that are parsed without being kept ----------------------- */

/* The destination of the values of one reply. */
struct value_sink {
	redis_value_fn *fn;
	void *arg;
	bool nested; /* the reply has nested arrays */
	bool useless;
	redisReply nobody; /* returned for every object that hiredis creates */
	redisReplyObjectFunctions functions, *before;
};

/* An array's length has another type in hiredis 1. */
#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

/* Never returns NULL: hiredis would take that for out of memory. */
static void *hand_value(const redisReadTask *task, struct redis_value value)
{
	struct value_sink *sink = task->privdata;

	if (task->parent && task->parent->parent)
		sink->nested = true;
	else
		sink->fn(sink->arg, task->parent ? (size_t)task->idx : 0,
			 &value);
	return &sink->nobody;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is hiredis' signature */
static void *on_string(const redisReadTask *task, char *text, size_t len)
{
	struct value_sink *sink = task->privdata;
	const redisReply said = {.type = task->type, .str = text, .len = len};
	bool error = task->type == REDIS_REPLY_ERROR;

	sink->useless |= is_useless(&said);
	return hand_value(task, (struct redis_value){
					.type = error ? REDIS_VALUE_ERROR
						      : REDIS_VALUE_TEXT,
					.text = text,
					.len = len,
				});
}

static void *on_array(const redisReadTask *task, array_length elements)
{
	struct value_sink *sink = task->privdata;

	(void)elements;
	if (task->parent)
		sink->nested = true;
	return &sink->nobody;
}

static void *on_integer(const redisReadTask *task, long long number)
{
	return hand_value(task, (struct redis_value){.type = REDIS_VALUE_NUMBER,
						     .number = number});
}

static void *on_nil(const redisReadTask *task)
{
	return hand_value(task, (struct redis_value){.type = REDIS_VALUE_NIL});
}

static void on_free(void *object)
{
	(void)object;
}

/* Makes `context` pass the values of its next reply to the sink; that reply is
 * taken with redisGetReply and not freed, and then values_end called. */
static void values_begin(redisContext *context, struct value_sink *sink)
{
	sink->functions = (redisReplyObjectFunctions){
		.createString = on_string,
		.createArray = on_array,
		.createInteger = on_integer,
		.createNil = on_nil,
		.freeObject = on_free,
	};
	sink->nobody = (redisReply){.type = REDIS_REPLY_NIL};
	sink->before = context->reader->fn;
	context->reader->fn = &sink->functions;
	context->reader->privdata = sink;
}

static void values_end(redisContext *context)
{
	struct value_sink *sink = context->reader->privdata;

	context->reader->fn = sink->before;
	context->reader->privdata = NULL;
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
	reply = read_next_reply(r, err);
	if (!reply)
		return -1;
	values_end(r->context);
	r->useless |= sink.useless;
	if (sink.nested)
		return error_set(err, ERROR_PROTOCOL,
				 "redis %s: an answer with arrays in an array",
				 r->where);
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
