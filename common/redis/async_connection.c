#include "common/redis/async_connection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKOFF_MIN_MS 50
#define BACKOFF_MAX_MS 2000

static void connect_now(struct async_connection *c);

/* --- state ---------------------------------------------------------------- */

static void set_why(struct async_connection *c, const char *text)
{
	error_set_retriable(&c->why, ERROR_REMOTE, "redis %s: %s",
			    c->config->address, text);
}

/* Each attempt that fails for the reason already told is not news. */
static void tell(struct async_connection *c, bool up)
{
	if (!up && !strcmp(c->told, c->why.text))
		return;
	snprintf(c->told, sizeof(c->told), "%s", up ? "" : c->why.text);
	if (c->on_state && !c->closing)
		c->on_state(c->arg, up, up ? NULL : &c->why);
}

/* The context is gone or going: tell, and come back later. */
static void went_down(struct async_connection *c)
{
	int64_t half = c->backoff / 2;

	c->context = NULL;
	c->state = CONNECTION_DOWN;
	tell(c, false);
	if (c->closing)
		return;
	loop_timer_set(c->timer, half + arc4random_uniform((uint32_t)half + 1));
	c->backoff *= 2;
	if (c->backoff > BACKOFF_MAX_MS)
		c->backoff = BACKOFF_MAX_MS;
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
		return; /* we ended it */
	if (c->state != CONNECTION_DOWN)
		set_why(c, context->err ? context->errstr : "disconnected");
	went_down(c);
}

static void on_up(struct async_connection *c)
{
	c->state = CONNECTION_UP;
	c->backoff = BACKOFF_MIN_MS;
	loop_timer_stop(c->timer);
	tell(c, true);
}

/* --- greeting ------------------------------------------------------------- */

/* The answer to AUTH, SELECT and PING, of which the last is the PING. */
static void on_greeting(redisAsyncContext *context, void *raw, void *last)
{
	struct async_connection *c = context->data;
	const redisReply *reply = raw;

	if (!reply || c->context != context || c->state != CONNECTION_GREETING)
		return;
	if (reply->type == REDIS_REPLY_ERROR) {
		set_why(c, reply->str);
		c->state = CONNECTION_DOWN;
		redisAsyncDisconnect(context);
	} else if (last) {
		on_up(c);
	}
}

static void greet(struct async_connection *c, int argc, const char **argv,
		  void *last)
{
	redisAsyncCommandArgv(c->context, on_greeting, last, argc, argv, NULL);
}

static void send_greetings(struct async_connection *c)
{
	const struct redis_config *config = c->config;
	char database[24];

	if (config->password && config->username)
		greet(c, 3,
		      (const char *[]){"AUTH", config->username,
				       config->password},
		      NULL);
	else if (config->password)
		greet(c, 2, (const char *[]){"AUTH", config->password}, NULL);
	if (config->database) {
		snprintf(database, sizeof(database), "%" PRId64,
			 config->database);
		greet(c, 2, (const char *[]){"SELECT", database}, NULL);
	}
	/* A Redis that is still loading says so here. */
	greet(c, 1, (const char *[]){"PING"}, c);
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
	send_greetings(c);
}

/* The one timer of a connection that is not up. */
static void on_timer(void *arg)
{
	struct async_connection *c = arg;

	if (c->state == CONNECTION_DOWN && !c->context)
		connect_now(c);
	else if (c->context)
		async_connection_give_up(
			c, "no connection within redis.connect_timeout");
}

static void connect_now(struct async_connection *c)
{
	const struct redis_address *a = &c->address;
	redisAsyncContext *context =
		a->port ? redisAsyncConnect(a->host, a->port)
			: redisAsyncConnectUnix(a->host);

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

/* --- interface ------------------------------------------------------------ */

int async_connection_open(struct async_connection *c, struct loop *loop,
			  const struct redis_config *config,
			  redis_state_fn *on_state, void *arg,
			  struct error *err)
{
	c->loop = loop;
	c->config = config;
	c->on_state = on_state;
	c->arg = arg;
	c->backoff = BACKOFF_MIN_MS;
	set_why(c, "not connected yet");
	if (redis_address_parse(config->address, &c->address, err))
		return -1;
	c->timer = loop_timer_new(loop, on_timer, c, err);
	if (!c->timer)
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
	c->timer = NULL;
}

void async_connection_ending(struct async_connection *c,
			     const redisAsyncContext *context)
{
	if (c->state == CONNECTION_UP)
		set_why(c,
			context->err ? context->errstr : "connection closed");
	c->state = CONNECTION_DOWN;
}
