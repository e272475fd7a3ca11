#include "linkstore/idempotency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/command.h"

struct call {
	idem_fn *fn;
	void *arg;
};

/* "p|d deadline fingerprint link_id code" */
static int parse_record(const char *text, struct idem_record *ret,
			struct error *err)
{
	char state;
	int end = 0;

	*ret = (struct idem_record){.done = false};
	if (!*text)
		return 0;
	if (strlen(text) >= sizeof(ret->text) ||
	    sscanf(text, "%c %" SCNd64 " %32[0-9a-f] %" SCNu64 " %64s%n",
		   &state, &ret->deadline, ret->fingerprint, &ret->link_id,
		   ret->code, &end) != 5 ||
	    text[end] || (state != 'p' && state != 'd'))
		return error_set(err, ERROR_PROTOCOL,
				 "redis: the record '%.60s' of an "
				 "Idempotency-Key is damaged",
				 text);
	strcpy(ret->text, text);
	ret->done = state == 'd';
	return 0;
}

static int parse(const redisReply *reply, struct idem_record *ret_record,
		 int64_t *ret_now, bool *ret_written, struct error *err)
{
	if (!reply_is_array(reply, 2))
		return reply_malformed("idem", err);
	*ret_now = reply_number(reply, 0, 0);
	*ret_written = reply->elements > 2 && reply_number(reply, 2, 0) == 1;
	return parse_record(reply_text(reply, 1), ret_record, err);
}

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *failure)
{
	struct call *call = arg;
	struct idem_record record;
	int64_t now = 0;
	bool written = false;
	struct error err;

	if (!failure && parse(reply, &record, &now, &written, &err))
		failure = &err;
	call->fn(call->arg, failure ? NULL : &record, now, written, failure);
	free(call);
}

static void build(struct command *c, const struct linkstore *store,
		  enum link_script script, const char *key)
{
	command_script(c, linkstore_space(store, 0), script);
	command_format(c, "i:{%s}", key);
	c->keys++;
}

static int send_call(struct command *c, struct redis_async *redis, idem_fn *fn,
		     void *arg, struct error *err)
{
	struct call *call = malloc(sizeof(*call));

	if (!call) {
		command_free(c);
		return error_set_nomem(err);
	}
	*call = (struct call){fn, arg};
	if (command_send(c, redis, on_reply, call, err)) {
		free(call);
		return -1;
	}
	return 0;
}

int idem_read_async(struct redis_async *redis, const struct linkstore *store,
		    const char key[IDEM_KEY_MAX], idem_fn *fn, void *arg,
		    struct error *err)
{
	struct command c;

	build(&c, store, SCRIPT_IDEM_READ, key);
	return send_call(&c, redis, fn, arg, err);
}

int idem_write_async(struct redis_async *redis, const struct linkstore *store,
		     const char key[IDEM_KEY_MAX], const char *expected,
		     const struct idem_record *values, idem_fn *fn, void *arg,
		     struct error *err)
{
	struct command c;

	build(&c, store, SCRIPT_IDEM_WRITE, key);
	command_text(&c, expected);
	command_text(&c, values->done ? "d" : "p");
	command_time(&c, IDEM_WINDOW);
	command_format(&c, "%s %" PRIu64 " %s", values->fingerprint,
		       values->link_id, values->code);
	command_time(&c, IDEM_KEEP);
	return send_call(&c, redis, fn, arg, err);
}

static void ignore(void *arg, const redisReply *reply, const struct error *err)
{
	(void)arg;
	(void)reply;
	(void)err;
}

int idem_end_async(struct redis_async *redis, const struct linkstore *store,
		   const char key[IDEM_KEY_MAX], const char *plan, bool done,
		   struct error *err)
{
	struct command c;

	build(&c, store, SCRIPT_IDEM_END, key);
	command_text(&c, plan);
	command_text(&c, done ? "done" : "drop");
	return command_send(&c, redis, ignore, NULL, err);
}
