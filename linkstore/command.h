/*
 * command.h - one Redis command or script call being built, and the three ways
 * to send it; what blocking and event-driven callers share.
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

/* More arguments than these are kept on the heap. */
#define COMMAND_ARGS_INLINE 24

struct command_arg {
	size_t start, len; /* in `bytes` */
};

struct command {
	const struct redis_script *script; /* NULL: a plain command */
	int keys;
	int argc;
	bool too_long;	  /* an argument */
	struct buf bytes; /* of all arguments */
	struct buf more;  /* command_arg from COMMAND_ARGS_INLINE on */
	struct command_arg args[COMMAND_ARGS_INLINE];
};

/* Starts a call of a script, or, with `name`, a plain command. */
void command_script(struct command *c, const struct link_space *space,
		    enum link_script script);
void command_plain(struct command *c, const char *name);
void command_free(struct command *c);

/* Keys come before arguments.  "l:", "m:" ... as design section 4 names them.
 */
void command_space_key(struct command *c, const char *prefix,
		       const struct link_space *space);
void command_marker_key(struct command *c, const struct link_space *space,
			uint64_t block);
/* The same key by itself; returns its length. */
#define MARKER_KEY_MAX 64
size_t marker_key_format(const struct link_space *space, uint64_t block,
			 char ret_key[MARKER_KEY_MAX]);
/* `block` does not count in a space without blocks. */
void command_link_key(struct command *c, const struct link_space *space,
		      uint64_t block, const char *code);
void command_target_key(struct command *c, const struct link_target *target);
void command_visits_key(struct command *c, const struct link_target *target,
			uint64_t link_id);
/* Link, visits and, of a link in a block, marker, of an alias its trace: what
 * scripts that change a link take. */
void command_link_keys(struct command *c, const struct link_target *target,
		       uint64_t link_id);
/* "q:{code}": what is left of an alias for links.quarantine.  False, and
 * nothing is added, when the target is none. */
bool command_trace_key(struct command *c, const struct link_target *target);
/* The last argument of these scripts: the quarantine, of an alias only. */
void command_quarantine(struct command *c, const struct link_target *target);

void command_arg(struct command *c, const void *data, size_t len);
void command_text(struct command *c, const char *text);
void command_number(struct command *c, uint64_t number);
/* A duration or instant in ms; DURATION_NEVER is "never". */
void command_time(struct command *c, int64_t ms);
void command_format(struct command *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* What scripts take that first make sure that Redis remembers (lib_space.lua):
 * the keys of the space, the high water that the caller has seen, and the
 * settings that it goes by. */
void command_remember_keys(struct command *c, const struct link_space *space);
void command_remember_args(struct command *c, const struct link_space *space,
			   const struct high_water *high_water);
/* "day:{s7}:", to which a script adds the date. */
void command_day_prefix(struct command *c, const struct link_space *space);

/* Each of these also frees the command. */
int command_run(struct command *c, struct redis *redis, redisReply **ret_reply,
		struct error *err);
int command_append(struct command *c, struct redis *redis, struct error *err);
int command_send(struct command *c, struct redis_async *redis,
		 redis_reply_fn *fn, void *arg, struct error *err);
/* The same; nobody hears the answer. */
int command_send_off(struct command *c, struct redis_async *redis,
		     struct error *err);

/* --- replies -------------------------------------------------------------- */

/* An array of at least `min` elements. */
bool reply_is_array(const redisReply *reply, size_t min);
/* Element i as a number: an integer, or a string that is one; `other` else. */
int64_t reply_number(const redisReply *reply, size_t i, int64_t other);
/* Element i as a string, "" when it is none. */
const char *reply_text(const redisReply *reply, size_t i);
/* -1 in scripts' replies is DURATION_NEVER. */
int64_t reply_time(const redisReply *reply, size_t i);
/* Elements i and i + 1 as moves and highest generation, noted of the space. */
struct high_water reply_high_water(const redisReply *reply, size_t i,
				   const struct link_space *space,
				   uint64_t cursor);
/* A script answered what it never answers.  Returns -1. */
int reply_malformed(const char *what, struct error *err);
/* A script that came upon what it cannot read says so and changes nothing: that
 * is no failure of Redis' but ERROR_UNSAFE.  Returns -1. */
int reply_damage(struct error *err);
/* {0, reason}: an error for the reasons that scripts of {space} share.
 * Returns -1. */
int reply_refused(const redisReply *reply, const struct link_space *space,
		  struct error *err);

#endif
