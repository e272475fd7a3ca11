#include "linkstore/idempotency_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/async_call.h"

struct idem_answer {
	struct idem_record record;
	int64_t now;
	bool written;
};

/* Cuts off a word and the blank behind it.  `size` includes the NUL. */
static bool take_word(const char **at, char *ret, size_t size)
{
	size_t len = strcspn(*at, " ");

	if (len == 0 || len >= size)
		return false;
	memcpy(ret, *at, len);
	ret[len] = '\0';
	*at += len + ((*at)[len] == ' ');
	return true;
}

static bool take_number(const char **at, uint64_t *ret)
{
	char word[21], *end;

	if (!take_word(at, word, sizeof(word)) || word[0] < '0' ||
	    word[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(word, &end, 10);
	return !*end && errno == 0;
}

/* Parses "p|d deadline fingerprint link_id code". */
static bool read_record(const char *at, struct idem_record *ret)
{
	char state[2];
	uint64_t deadline;

	if (!take_word(&at, state, sizeof(state)) ||
	    (state[0] != 'p' && state[0] != 'd') ||
	    !take_number(&at, &deadline) || deadline > INT64_MAX ||
	    !take_word(&at, ret->fingerprint, sizeof(ret->fingerprint)) ||
	    !take_number(&at, &ret->link_id) ||
	    !take_word(&at, ret->code, sizeof(ret->code)) || *at)
		return false;
	ret->done = state[0] == 'd';
	ret->deadline = (int64_t)deadline;
	return true;
}

int idem_record_parse(const char *text, struct idem_record *ret,
		      struct error *err)
{
	*ret = (struct idem_record){.done = false};
	if (!*text)
		return 0;
	if (strlen(text) >= sizeof(ret->text) || !read_record(text, ret))
		return error_set(err, ERROR_PROTOCOL,
				 "redis: the record '%.60s' of an "
				 "Idempotency-Key is damaged",
				 text);
	strcpy(ret->text, text);
	return 0;
}

static int parse_idem_reply(const redisReply *reply, const void *about,
			    void *ret_value, struct error *err)
{
	struct idem_answer *ret = ret_value;

	(void)about;
	if (!reply_is_array(reply, 2))
		return reply_malformed("idem", err);
	ret->now = reply_number(reply, 0, 0);
	ret->written = reply->elements > 2 && reply_number(reply, 2, 0) == 1;
	return idem_record_parse(reply_text(reply, 1), &ret->record, err);
}

static void deliver_idem_answer(async_call_fn *fn, void *arg, void *value,
				const struct error *failure)
{
	const struct idem_answer *answer = value;

	((idem_fn *)fn)(arg, failure ? NULL : &answer->record, answer->now,
			answer->written, failure);
}

static const struct async_call_type idem_call = {
	.value_size = sizeof(struct idem_answer),
	.parse = parse_idem_reply,
	.deliver = deliver_idem_answer,
};

static void begin_idem_command(struct command *c, const struct linkstore *store,
			       enum link_script script, const char *key)
{
	command_script(c, linkstore_space(store, 0), script);
	command_format(c, "i:{%s}", key);
	c->keys++;
}

int idem_read_async(struct redis_async *redis, const struct linkstore *store,
		    const char key[IDEM_KEY_MAX], idem_fn *fn, void *arg,
		    struct error *err)
{
	struct command c;

	begin_idem_command(&c, store, SCRIPT_IDEM_READ, key);
	return async_call_send(&c, redis, &idem_call, NULL, (async_call_fn *)fn,
			       arg, err);
}

int idem_write_async(struct redis_async *redis, const struct linkstore *store,
		     const char key[IDEM_KEY_MAX], const char *expected,
		     const struct idem_record *values, idem_fn *fn, void *arg,
		     struct error *err)
{
	struct command c;

	begin_idem_command(&c, store, SCRIPT_IDEM_WRITE, key);
	command_text(&c, expected);
	command_text(&c, values->done ? "d" : "p");
	command_time(&c, IDEM_WINDOW);
	command_format(&c, "%s %" PRIu64 " %s", values->fingerprint,
		       values->link_id, values->code);
	command_time(&c, IDEM_KEEP);
	return async_call_send(&c, redis, &idem_call, NULL, (async_call_fn *)fn,
			       arg, err);
}

int idem_end_async(struct redis_async *redis, const struct linkstore *store,
		   const char key[IDEM_KEY_MAX], const char *plan, bool done,
		   struct error *err)
{
	struct command c;

	begin_idem_command(&c, store, SCRIPT_IDEM_END, key);
	command_text(&c, plan);
	command_text(&c, done ? "done" : "drop");
	return command_send_off(&c, redis, err);
}
