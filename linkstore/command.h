/*
 * command.h - builds one Redis command or script call, and sends it in one of
 * three ways; shared by blocking and event-driven callers.
 */
#ifndef LINKSTORE_COMMAND_H
#define LINKSTORE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/scripts.h"
#include "linkstore/target.h"

/* Further arguments are kept on the heap. */
#define COMMAND_ARGS_INLINE 24

struct command_arg {
	size_t start, len; /* in `bytes` */
};

struct command {
	const struct redis_script *script; /* NULL: a plain command */
	int keys;
	int argc;
	bool too_long;	  /* one of the arguments */
	struct buf bytes; /* all arguments */
	struct buf more;  /* each command_arg from COMMAND_ARGS_INLINE on */
	struct command_arg args[COMMAND_ARGS_INLINE];
};

/* Starts a call of a script, or, with `name`, a plain command. */
void command_script(struct command *c, const struct link_space *space,
		    enum link_script script);
void command_plain(struct command *c, const char *name);
void command_free(struct command *c);

/* Keys come before arguments.  Prefixes "l:", "m:" ... are those of design
 * section 4. */
void command_space_key(struct command *c, const char *prefix,
		       const struct link_space *space);
void command_marker_key(struct command *c, const struct link_space *space,
			uint64_t block);
/* Writes the same key and returns its length. */
#define MARKER_KEY_MAX 64
size_t marker_key_format(const struct link_space *space, uint64_t block,
			 char ret_key[MARKER_KEY_MAX]);
/* `block` is ignored in a space without blocks. */
void command_link_key(struct command *c, const struct link_space *space,
		      uint64_t block, const char *code);
void command_target_key(struct command *c, const struct link_target *target);
void command_visits_key(struct command *c, const struct link_target *target,
			uint64_t link_id);
/* The keys of scripts that change a link: link, visits, the marker of a link in
 * a block, and the trace of an alias. */
void command_link_keys(struct command *c, const struct link_target *target,
		       uint64_t link_id);
/* The key "q:{code}", the trace of an alias for links.quarantine.  Returns
 * false and adds nothing if the target is not an alias. */
bool command_trace_key(struct command *c, const struct link_target *target);
/* The last argument of these scripts: the quarantine.  Returns false and adds
 * nothing if the target is not an alias. */
bool command_quarantine(struct command *c, const struct link_target *target);

void command_arg(struct command *c, const void *data, size_t len);
void command_text(struct command *c, const char *text);
void command_number(struct command *c, uint64_t number);
/* A duration or instant in ms; DURATION_NEVER is "never". */
void command_time(struct command *c, int64_t ms);
void command_format(struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* For scripts that first check that Redis has lost nothing (lib_space.lua): the
 * keys of the space, the high water that the caller has seen, and the settings
 * that the script needs. */
void command_remember_keys(struct command *c, const struct link_space *space);
void command_remember_args(struct command *c, const struct link_space *space,
			   const struct high_water *high_water);
/* "day:{s7}:"; a script appends the date. */
void command_day_prefix(struct command *c, const struct link_space *space);

/* Each of these functions also frees the command. */
int command_run(struct command *c, struct redis *redis, redisReply **ret_reply,
		struct error *err);
int command_append(struct command *c, struct redis *redis, struct error *err);
int command_send(struct command *c, struct redis_async *redis,
		 redis_reply_fn *fn, void *arg, struct error *err);
/* The same, but the answer is ignored. */
int command_send_off(struct command *c, struct redis_async *redis,
		     struct error *err);

/* --- replies -------------------------------------------------------------- */

/* Returns whether the reply is an array of at least `min` elements. */
bool reply_is_array(const redisReply *reply, size_t min);
/* Returns element i as a number if it is an integer or the text of one,
 * otherwise `other`. */
int64_t reply_number(const redisReply *reply, size_t i, int64_t other);
/* Returns element i as a string, "" if it is not one. */
const char *reply_text(const redisReply *reply, size_t i);
/* Returns element i as a time; -1 in a script's reply is DURATION_NEVER. */
int64_t reply_time(const redisReply *reply, size_t i);
/* Returns elements i and i + 1 as moves and highest generation, and notes them
 * for the space. */
struct high_water reply_high_water(const redisReply *reply, size_t i,
				   const struct link_space *space,
				   uint64_t cursor);
/* Sets the error for an answer that the script cannot have given.  Returns
 * -1. */
int reply_malformed(const char *what, struct error *err);
/* Sets ERROR_UNSAFE: a script found data that it cannot read, and changed
 * nothing.  Redis itself did not fail.  Returns -1. */
int reply_damage(struct error *err);
/* Sets the error for a reply {0, reason}, whose reasons all scripts of {space}
 * share.  Returns -1. */
int reply_refused(const redisReply *reply, const struct link_space *space,
		  struct error *err);

#endif
