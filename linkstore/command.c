#include "linkstore/command.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/store.h"
#include "linkstore/target.h"

static void init_command(struct command *c)
{
	c->script = NULL;
	c->keys = 0;
	c->argc = 0;
	c->too_long = false;
	c->bytes = (struct buf){0};
	c->more = (struct buf){0};
}

void command_script(struct command *c, const struct link_space *space,
		    enum link_script script)
{
	init_command(c);
	c->script = &space->store->scripts[script];
}

void command_plain(struct command *c, const char *name)
{
	init_command(c);
	command_text(c, name);
}

void command_free(struct command *c)
{
	buf_free(&c->bytes);
	buf_free(&c->more);
}

void command_arg(struct command *c, const void *data, size_t len)
{
	struct command_arg arg = {c->bytes.len, len};

	if (c->argc < COMMAND_ARGS_INLINE)
		c->args[c->argc] = arg;
	else
		buf_append(&c->more, &arg, sizeof(arg));
	c->argc++;
	buf_append(&c->bytes, data, len);
}

void command_text(struct command *c, const char *text)
{
	command_arg(c, text, strlen(text));
}

void command_format(struct command *c, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(text))
		c->too_long = true;
	else
		command_arg(c, text, (size_t)len);
}

void command_number(struct command *c, uint64_t number)
{
	command_format(c, "%" PRIu64, number);
}

void command_time(struct command *c, int64_t ms)
{
	if (ms == DURATION_NEVER)
		command_text(c, "never");
	else
		command_format(c, "%" PRId64, ms);
}

/* --- keys ----------------------------------------------------------------- */

void command_space_key(struct command *c, const char *prefix,
		       const struct link_space *space)
{
	command_format(c, "%s{%s}", prefix, space->name);
	c->keys++;
}

/* Formatted without printf: a run of the reclaimer makes millions of keys. */
size_t marker_key_format(const struct link_space *space, uint64_t block,
			 char ret_key[MARKER_KEY_MAX])
{
	static const char head[] = {'m', ':', '{'};
	char digits[24], *p = digits + sizeof(digits);
	size_t len = sizeof(head);

	memcpy(ret_key, head, sizeof(head));
	for (size_t i = 0; i < LINK_SPACE_NAME_MAX && space->name[i]; i++)
		ret_key[len++] = space->name[i];
	ret_key[len++] = ':';
	do {
		*--p = (char)('0' + block % 10);
		block /= 10;
	} while (block);
	memcpy(ret_key + len, p, (size_t)(digits + sizeof(digits) - p));
	len += (size_t)(digits + sizeof(digits) - p);
	ret_key[len++] = '}';
	return len;
}

void command_marker_key(struct command *c, const struct link_space *space,
			uint64_t block)
{
	char key[MARKER_KEY_MAX];

	command_arg(c, key, marker_key_format(space, block, key));
	c->keys++;
}

void command_link_key(struct command *c, const struct link_space *space,
		      uint64_t block, const char *code)
{
	if (link_space_has_blocks(space))
		command_format(c, "l:{%s:%" PRIu64 "}:%s", space->name, block,
			       code);
	else
		command_format(c, "l:{%s}", code);
	c->keys++;
}

void command_target_key(struct command *c, const struct link_target *target)
{
	command_link_key(c, target->space, target->block, target->code);
}

void command_visits_key(struct command *c, const struct link_target *target,
			uint64_t link_id)
{
	if (link_space_has_blocks(target->space))
		command_format(c, "v:{%s:%" PRIu64 "}:%" PRIu64,
			       target->space->name, target->block, link_id);
	else
		command_format(c, "v:{%s}:%" PRIu64, target->code, link_id);
	c->keys++;
}

void command_link_keys(struct command *c, const struct link_target *target,
		       uint64_t link_id)
{
	command_target_key(c, target);
	command_visits_key(c, target, link_id);
	if (link_space_has_blocks(target->space))
		command_marker_key(c, target->space, target->block);
	command_trace_key(c, target);
}

/* Codes of the other strategies cannot be chosen by users: a hash code returns
 * to its own URL, a snowflake never returns. */
static bool has_trace(const struct link_target *target)
{
	return target->space->strategy == LINK_ALIAS;
}

bool command_trace_key(struct command *c, const struct link_target *target)
{
	if (!has_trace(target))
		return false;
	command_format(c, "q:{%s}", target->code);
	c->keys++;
	return true;
}

bool command_quarantine(struct command *c, const struct link_target *target)
{
	if (!has_trace(target))
		return false;
	command_time(c, target->space->store->config->quarantine);
	return true;
}

void command_day_prefix(struct command *c, const struct link_space *space)
{
	command_format(c, "day:{%s}:", space->name);
}

void command_remember_keys(struct command *c, const struct link_space *space)
{
	command_space_key(c, "space:", space);
	command_space_key(c, "cursor:", space);
	command_space_key(c, "issued:", space);
	command_space_key(c, "pool:", space);
	command_space_key(c, "unopened:", space);
	command_space_key(c, "endless:", space);
}

void command_remember_args(struct command *c, const struct link_space *space,
			   const struct high_water *high_water)
{
	const struct links_config *config = linkstore_config(space->store);

	command_number(c, high_water->cursor);
	command_number(c, high_water->moves);
	command_number(c, high_water->generation);
	command_number(c, space->blocks);
	command_number(c, space->safety_gap);
	command_time(c, config->hold_max);
	command_time(c, linkstore_longest_ttl(space->store));
	command_day_prefix(c, space);
}

/* --- send ----------------------------------------------------------------- */

/* The arguments in the form that hiredis needs. */
struct sealed {
	const char **argv;
	size_t *lens;
	const char *inline_argv[COMMAND_ARGS_INLINE];
	size_t inline_lens[COMMAND_ARGS_INLINE];
};

static struct command_arg arg_at(const struct command *c, int i)
{
	struct command_arg arg;

	if (i < COMMAND_ARGS_INLINE)
		return c->args[i];
	memcpy(&arg,
	       c->more.data + (size_t)(i - COMMAND_ARGS_INLINE) * sizeof(arg),
	       sizeof(arg));
	return arg;
}

static int seal_arguments(const struct command *c, struct sealed *s,
			  struct error *err)
{
	size_t count = (size_t)c->argc;

	s->argv = s->inline_argv;
	s->lens = s->inline_lens;
	if (c->too_long)
		return error_set(err, ERROR_INPUT,
				 "an argument to Redis is too long");
	if (count > COMMAND_ARGS_INLINE) {
		s->argv = malloc(count * sizeof(*s->argv));
		s->lens = malloc(count * sizeof(*s->lens));
	}
	if (c->bytes.failed || c->more.failed || !s->argv || !s->lens)
		return error_set_nomem(err);
	for (int i = 0; i < c->argc; i++) {
		s->argv[i] = c->bytes.data + arg_at(c, i).start;
		s->lens[i] = arg_at(c, i).len;
	}
	return 0;
}

static void free_sealed_command(struct command *c, struct sealed *s)
{
	if (s->argv != s->inline_argv)
		free(s->argv);
	if (s->lens != s->inline_lens)
		free(s->lens);
	command_free(c);
}

int command_run(struct command *c, struct redis *redis, redisReply **ret_reply,
		struct error *err)
{
	struct sealed s;
	int status = seal_arguments(c, &s, err);

	if (status == 0 && c->script)
		status = redis_eval(redis, c->script, c->keys, c->argc, s.argv,
				    s.lens, ret_reply, err);
	else if (status == 0)
		status = redis_command(redis, c->argc, s.argv, s.lens,
				       ret_reply, err);
	free_sealed_command(c, &s);
	return status;
}

int command_append(struct command *c, struct redis *redis, struct error *err)
{
	struct sealed s;
	int status = seal_arguments(c, &s, err);

	if (status == 0 && c->script)
		status = redis_append_eval(redis, c->script, c->keys, c->argc,
					   s.argv, s.lens, err);
	else if (status == 0)
		status = redis_append(redis, c->argc, s.argv, s.lens, err);
	free_sealed_command(c, &s);
	return status;
}

int command_send(struct command *c, struct redis_async *redis,
		 redis_reply_fn *fn, void *arg, struct error *err)
{
	struct sealed s;
	int status = seal_arguments(c, &s, err);

	if (status == 0 && c->script)
		status = redis_async_eval(redis, c->script, c->keys, c->argc,
					  s.argv, s.lens, fn, arg, err);
	else if (status == 0)
		status = redis_async_command(redis, c->argc, s.argv, s.lens, fn,
					     arg, err);
	free_sealed_command(c, &s);
	return status;
}

static void ignore_reply(void *arg, const redisReply *reply,
			 const struct error *err)
{
	(void)arg;
	(void)reply;
	(void)err;
}

int command_send_off(struct command *c, struct redis_async *redis,
		     struct error *err)
{
	return command_send(c, redis, ignore_reply, NULL, err);
}

/* --- replies -------------------------------------------------------------- */

bool reply_is_array(const redisReply *reply, size_t min)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements >= min;
}

int64_t reply_number(const redisReply *reply, size_t i, int64_t other)
{
	const redisReply *element = reply->element[i];
	char *end;
	long long number;

	if (element->type == REDIS_REPLY_INTEGER)
		return element->integer;
	if (element->type != REDIS_REPLY_STRING)
		return other;
	number = strtoll(element->str, &end, 10);
	return end == element->str || *end ? other : number;
}

const char *reply_text(const redisReply *reply, size_t i)
{
	const redisReply *element = reply->element[i];

	return element->type == REDIS_REPLY_STRING ? element->str : "";
}

int64_t reply_time(const redisReply *reply, size_t i)
{
	int64_t ms = reply_number(reply, i, 0);

	return ms == -1 ? DURATION_NEVER : ms;
}

struct high_water reply_high_water(const redisReply *reply, size_t i,
				   const struct link_space *space,
				   uint64_t cursor)
{
	struct high_water high_water = {
		.cursor = cursor,
		.moves = (uint64_t)reply_number(reply, i, 0),
		.generation = (uint32_t)reply_number(reply, i + 1, 0),
	};

	linkstore_note_high_water(space, &high_water);
	return high_water;
}

int reply_malformed(const char *what, struct error *err)
{
	return error_set(err, ERROR_PROTOCOL,
			 "redis: %s got an answer of a shape that the script "
			 "does not make",
			 what);
}

int reply_damage(struct error *err)
{
	if (err->code == ERROR_DAMAGED)
		err->code = ERROR_UNSAFE;
	return -1;
}

int reply_refused(const redisReply *reply, const struct link_space *space,
		  struct error *err)
{
	const char *why = reply->elements > 1 ? reply_text(reply, 1) : "";

	if (!strcmp(why, "nospace"))
		return error_set(err, ERROR_NOTFOUND,
				 "space %s has no record in Redis: create it "
				 "first, or restore what was there",
				 space->name);
	if (!strcmp(why, "nocursor"))
		return error_set(err, ERROR_NOTFOUND,
				 "space %s has lost its cursor: nothing can be "
				 "granted before it is restored",
				 space->name);
	if (!strcmp(why, "exhausted"))
		return error_set_retriable(
			err, ERROR_EXHAUSTED,
			"space %s is exhausted: every block is live or in "
			"quarantine",
			space->name);
	if (!strcmp(why, "clock"))
		return error_set_retriable(
			err, ERROR_EXHAUSTED,
			"space %s is exhausted by this host's clock, which is "
			"minutes behind Redis': by Redis' the quarantine of "
			"blocks is over.  Set the clock that is wrong",
			space->name);
	if (!strcmp(why, "lock"))
		return error_set_retriable(err, ERROR_NOT_OWNER,
					   "space %s: the reclaimer's lock is "
					   "not ours any more",
					   space->name);
	if (!strcmp(why, "member"))
		return error_set(err, ERROR_NOTFOUND,
				 "space %s: the range is no longer issued",
				 space->name);
	if (!strcmp(why, "nokey"))
		return error_set(err, ERROR_UNSAFE,
				 "space %s: key version %s is not in use: "
				 "nothing is granted for it",
				 space->name, reply_text(reply, 2));
	if (!strcmp(why, "badcursor"))
		return error_set(err, ERROR_UNSAFE,
				 "space %s: a block beyond the capacity was "
				 "seen",
				 space->name);
	return error_set(err, ERROR_PROTOCOL, "space %s: refused: %s",
			 space->name, why);
}
