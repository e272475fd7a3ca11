#include "common/redis/async_connection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/backoff.h"
#include "common/buf.h"
#include "common/drop_const.h"
#include "common/redis/script_loading.h"
#include "common/redis/wire.h"

#define BACKOFF_MIN_MS 50
#define BACKOFF_MAX_MS 2000

static void connect_now(struct async_connection *c);

/* --- state ---------------------------------------------------------------- */

static void set_why(struct async_connection *c, const char *text)
{
	error_set_retriable(&c->why, ERROR_REMOTE, "redis %s: %s", c->where,
			    text);
	error_keep_inside(&c->why, REDIS_AWAY);
}

/* Reports the state; a further attempt that fails for the reason already
 * reported is left out. */
static void report_connection_state(struct async_connection *c, bool up)
{
	if (!up && !strcmp(c->told, c->why.text))
		return;
	snprintf(c->told, sizeof(c->told), "%s", up ? "" : c->why.text);
	if (c->on_state && !c->closing)
		c->on_state(c->arg, up, up ? NULL : &c->why);
}

/* Called when the context is gone or going: reports it, and tries the next
 * target; once all of them have failed, after a delay. */
static void went_down(struct async_connection *c)
{
	bool more;

	c->context = NULL;
	c->state = CONNECTION_DOWN;
	c->asking = false;
	c->at = (c->at + 1) % c->targets.count;
	c->found = false;
	more = ++c->failed < c->targets.count;
	if (!more || !*c->told)
		report_connection_state(c, false);
	if (c->closing)
		return;
	loop_timer_stop(c->role_timer);
	if (more) {
		loop_timer_set(c->timer, 0);
		return;
	}
	c->failed = 0;
	loop_timer_set(c->timer,
		       backoff_delay(BACKOFF_MIN_MS, BACKOFF_MAX_MS,
				     ++c->rounds_failed, arc4random()));
}

void async_connection_give_up(struct async_connection *c, const char *why)
{
	redisAsyncContext *context = c->context;

	set_why(c, why);
	c->state = CONNECTION_DOWN;
	c->context = NULL;
	redisAsyncFree(context);
	went_down(c);
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
	struct async_connection *c = context->data;

	(void)status;
	if (c->context != context)
		return; /* ended by this side */
	if (c->found) {
		c->context = NULL;
		loop_timer_set(c->timer, 0);
		return;
	}
	if (c->state != CONNECTION_DOWN)
		set_why(c, context->err ? context->errstr : "disconnected");
	went_down(c);
}

static void on_up(struct async_connection *c)
{
	c->state = CONNECTION_UP;
	c->rounds_failed = 0;
	c->failed = 0;
	c->role_asked = 0;
	loop_timer_stop(c->timer);
	loop_timer_set(c->role_timer, ROLE_CHECK_MS);
	report_connection_state(c, true);
}

/* --- greeting ------------------------------------------------------------- */

/* Leaves a server that is not the wanted one, or that refuses, and reports the
 * reason. */
static void turn_away(struct async_connection *c, const char *why)
{
	set_why(c, why);
	c->state = CONNECTION_DOWN;
	redisAsyncDisconnect(c->context);
}

/* Returns an answer received during the greeting, or NULL. */
static const redisReply *answer_to(const struct async_connection *c,
				   const redisAsyncContext *context,
				   const void *raw)
{
	return c->context == context && c->state == CONNECTION_GREETING ? raw
									: NULL;
}

/*
 * Handles the answers to AUTH, SELECT and PING.  A server that cannot write to
 * its disk answers PING with MISCONF: it refuses writes, each of them, and
 * still serves reads.
 */
static void on_greeting(redisAsyncContext *context, void *raw, void *unused)
{
	struct async_connection *c = context->data;
	const redisReply *reply = answer_to(c, context, raw);

	(void)unused;
	if (reply && reply->type == REDIS_REPLY_ERROR &&
	    !redis_error_is(reply, "MISCONF"))
		turn_away(c, reply->str);
}

static void on_version(redisAsyncContext *context, void *raw, void *unused)
{
	struct async_connection *c = context->data;
	const redisReply *reply = answer_to(c, context, raw);
	struct error err;

	(void)unused;
	if (!reply)
		return;
	redis_read_run_id(reply, c->run_id);
	c->slots_apart = redis_info_keeps_slots_apart(reply);
	if (redis_check_version(reply, &err))
		turn_away(c, err.text);
}

/* The connection becomes usable when the last missing script is loaded. */
static void on_loaded(redisAsyncContext *context, void *raw, void *data)
{
	struct async_connection *c = context->data;
	const redisReply *reply = answer_to(c, context, raw);
	struct error err;

	if (!reply)
		return;
	c->loading--;
	if (script_loading_check_load(reply, data, &err))
		turn_away(c, err.text);
	else if (c->loading == 0)
		on_up(c);
}

/* Sends what `out` holds as a part of the greeting. */
static void greet_with(struct async_connection *c, struct buf *out,
		       redisCallbackFn *fn, const struct redis_script *script)
{
	if (out->failed)
		turn_away(c, "out of memory");
	else
		redisAsyncFormattedCommand(c->context, fn, drop_const(script),
					   out->data, out->len);
	buf_free(out);
}

static void load_missing_script(struct async_connection *c,
				const struct redis_script *script)
{
	struct buf out = {0};

	c->loading++;
	script_loading_load(&out, script);
	greet_with(c, &out, on_loaded, script);
}

static void on_scripts(redisAsyncContext *context, void *raw, void *unused)
{
	struct async_connection *c = context->data;
	const redisReply *reply = answer_to(c, context, raw);
	struct error err;

	(void)unused;
	if (!reply)
		return;
	if (script_loading_check(reply, c->scripts, &err)) {
		turn_away(c, err.text);
		return;
	}
	c->loading = 0;
	for (size_t i = 0; i < c->scripts->count; i++)
		if (script_loading_lacks(reply, i))
			load_missing_script(c, &c->scripts->items[i]);
	if (c->loading == 0)
		on_up(c);
}

static void ask_scripts(struct async_connection *c)
{
	struct buf out = {0};

	script_loading_ask(&out, c->scripts);
	greet_with(c, &out, on_scripts, NULL);
}

static int check_role(const struct async_connection *c, const redisReply *info,
		      struct error *err)
{
	return c->of_replica ? redis_check_replica(info, err)
			     : redis_check_role(info, err);
}

/* Handles the last answer of the greeting, unless there are scripts. */
static void on_role(redisAsyncContext *context, void *raw, void *unused)
{
	struct async_connection *c = context->data;
	const redisReply *reply = answer_to(c, context, raw);
	struct error err;

	(void)unused;
	if (!reply)
		return;
	if (check_role(c, reply, &err))
		turn_away(c, err.text);
	else if (c->scripts)
		ask_scripts(c);
	else
		on_up(c);
}

static int read_whereabouts(struct async_connection *c, const redisReply *reply,
			    struct error *err)
{
	if (c->of_replica)
		return redis_parse_replicas(reply, c->config, c->pick++,
					    &c->server, err);
	return redis_parse_master(reply, c->config, &c->server, err);
}

/* Handles the sentinel's answer: the connection continues to the server. */
static void on_whereabouts(redisAsyncContext *context, void *raw, void *unused)
{
	struct async_connection *c = context->data;
	const redisReply *reply = answer_to(c, context, raw);
	struct error err;

	(void)unused;
	if (!reply)
		return;
	if (read_whereabouts(c, reply, &err)) {
		turn_away(c, err.text);
		return;
	}
	c->found = true;
	c->state = CONNECTION_DOWN;
	redisAsyncDisconnect(context);
}

static void send_async_command(struct async_connection *c, int argc,
			       const char **argv, redisCallbackFn *fn)
{
	redisAsyncCommandArgv(c->context, fn, NULL, argc, argv, NULL);
}

static void send_auth_command(struct async_connection *c, const char *username,
			      const char *password)
{
	if (password && username)
		send_async_command(c, 3,
				   (const char *[]){"AUTH", username, password},
				   on_greeting);
	else if (password)
		send_async_command(c, 2, (const char *[]){"AUTH", password},
				   on_greeting);
}

static void ask_sentinel(struct async_connection *c)
{
	const struct redis_config *config = c->config;

	send_auth_command(c, config->sentinel_username,
			  config->sentinel_password);
	send_async_command(c, 3,
			   (const char *[]){"SENTINEL",
					    c->of_replica
						    ? "replicas"
						    : "get-master-addr-by-name",
					    config->master_name},
			   on_whereabouts);
}

static void send_greetings(struct async_connection *c)
{
	const struct redis_config *config = c->config;
	char database[24];

	send_auth_command(c, config->username, config->password);
	if (config->database) {
		snprintf(database, sizeof(database), "%" PRId64,
			 config->database);
		send_async_command(c, 2, (const char *[]){"SELECT", database},
				   on_greeting);
	}
	/* A Redis that is still loading answers this with an error. */
	send_async_command(c, 1, (const char *[]){"PING"}, on_greeting);
	send_async_command(c, 2, (const char *[]){REDIS_ASK_VERSION},
			   on_version);
	send_async_command(c, 2, (const char *[]){REDIS_ASK_ROLE}, on_role);
}

/* --- role check ----------------------------------------------------------- */

static void on_role_again(redisAsyncContext *context, void *raw, void *unused)
{
	struct async_connection *c = context->data;
	const redisReply *reply = raw;
	struct error err;

	(void)unused;
	if (!reply || c->context != context || c->state != CONNECTION_UP)
		return;
	c->role_asked = 0;
	/* An error reply is not about the role (a busy script, or loading):
	 * ignored. */
	if (reply->type != REDIS_REPLY_ERROR && check_role(c, reply, &err))
		turn_away(c, err.text);
}

static void on_role_timer(void *arg)
{
	struct async_connection *c = arg;

	int64_t now = loop_now_ms(c->loop);

	if (c->state != CONNECTION_UP)
		return;
	if (c->role_asked &&
	    now - c->role_asked >= c->config->command_timeout) {
		async_connection_give_up(c, "no answer within "
					    "redis.command_timeout");
		return;
	}
	if (!c->role_asked) {
		send_async_command(c, 2, (const char *[]){REDIS_ASK_ROLE},
				   on_role_again);
		c->role_asked = now;
	}
	loop_timer_set(c->role_timer, ROLE_CHECK_MS);
}

void async_connection_suspect(struct async_connection *c)
{
	if (c->state == CONNECTION_UP)
		loop_timer_set(c->role_timer, 0);
}

void async_connection_renew(struct async_connection *c, const char *why)
{
	if (c->state == CONNECTION_UP)
		turn_away(c, why);
}

/* --- connecting ----------------------------------------------------------- */

static void on_connect(const redisAsyncContext *context, int status)
{
	struct async_connection *c = context->data;

	if (c->context != context)
		return;
	if (status != REDIS_OK) {
		set_why(c, context->errstr);
		went_down(c);
		return;
	}
	c->state = CONNECTION_GREETING;
	async_adapter_gather(&c->adapter);
	if (c->asking)
		ask_sentinel(c);
	else
		send_greetings(c);
}

/* The only timer of a connection that is not up. */
static void on_timer(void *arg)
{
	struct async_connection *c = arg;

	if (c->state == CONNECTION_DOWN && !c->context)
		connect_now(c);
	else if (c->context)
		async_connection_give_up(
			c, "no connection within redis.connect_timeout");
}

static void connect_to(struct async_connection *c,
		       const struct redis_address *a)
{
	redisAsyncContext *context =
		a->port ? redisAsyncConnect(a->host, a->port)
			: redisAsyncConnectUnix(a->host);

	c->where = a->text;
	if (!context || context->err) {
		set_why(c, context ? context->errstr : "out of memory");
		if (context)
			redisAsyncFree(context);
		went_down(c);
		return;
	}
	context->data = c;
	if (async_adapter_attach(&c->adapter, c->loop, context, &c->why)) {
		redisAsyncFree(context);
		went_down(c);
		return;
	}
	c->context = context;
	c->state = CONNECTION_STARTING;
	loop_timer_set(c->timer, c->config->connect_timeout);
	redisAsyncSetDisconnectCallback(context, on_disconnect);
	redisAsyncSetConnectCallback(context, on_connect);
}

static void connect_now(struct async_connection *c)
{
	const struct redis_address *next =
		c->found ? &c->server : &c->targets.all[c->at];

	c->asking = c->targets.sentinels && !c->found;
	c->found = false;
	connect_to(c, next);
}

/* --- interface ------------------------------------------------------------ */

int async_connection_open(struct async_connection *c, struct loop *loop,
			  const struct redis_config *config,
			  const struct redis_scripts *scripts, size_t first,
			  redis_state_fn *on_state, void *arg,
			  struct error *err)
{
	int status;

	c->loop = loop;
	c->config = config;
	c->scripts = scripts;
	c->on_state = on_state;
	c->arg = arg;
	c->pick = first;
	status = c->of_replica ? redis_targets_of_replicas(config, first,
							   &c->targets, err)
			       : redis_targets_parse(config, &c->targets, err);
	if (status)
		return -1;
	c->where = c->targets.all[0].text;
	set_why(c, "not connected yet");
	c->timer = loop_timer_new(loop, on_timer, c, err);
	c->role_timer = loop_timer_new(loop, on_role_timer, c, err);
	if (!c->timer || !c->role_timer)
		return -1;
	loop_timer_set(c->timer, 0);
	return 0;
}

void async_connection_close(struct async_connection *c)
{
	redisAsyncContext *context = c->context;

	c->closing = true;
	c->context = NULL;
	c->state = CONNECTION_DOWN;
	if (context) {
		set_why(c, "shutting down");
		redisAsyncFree(context);
	}
	loop_timer_free(c->timer);
	loop_timer_free(c->role_timer);
	c->timer = c->role_timer = NULL;
	redis_targets_free(&c->targets);
}

void async_connection_ending(struct async_connection *c,
			     const redisAsyncContext *context)
{
	if (c->state == CONNECTION_UP)
		set_why(c,
			context->err ? context->errstr : "connection closed");
	c->state = CONNECTION_DOWN;
}
