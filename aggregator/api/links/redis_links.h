/*
 * redis_links.h - the links that Redis has, for threads that may block: links
 * that allocators have made and that the archive may not have yet.
 *
 * One thread with a loop and one connection serves all callers, by the look-up
 * that visits are answered with.  A caller waits for the answer, at most
 * redis.command_timeout: then the connection is made anew, which fails all
 * waiting look-ups, and while it is down every look-up fails at once.  So a
 * Redis that hangs blocks the workers once, not for each look-up.
 *
 * Spaces are compared with their records in Redis, as in the other programs.
 * No link of a space is answered before the space was verified: another key
 * makes other codes.
 */
#ifndef AGGREGATOR_API_LINKS_REDIS_LINKS_H
#define AGGREGATOR_API_LINKS_REDIS_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/block/lookup.h"
#include "linkstore/command.h"

struct redis_links;

struct redis_links_options {
	const struct aggregator_config *config; /* with links.spaces */
	struct log *log;
	struct metrics *metrics;
	struct health *health; /* up once the spaces were checked */
};

/* The options' parts must outlive it. */
struct redis_links *redis_links_new(const struct redis_links_options *options,
				    struct error *err);
int redis_links_start(struct redis_links *l, struct error *err);
/* Call it when no thread uses it any more.  NULL accepted. */
void redis_links_free(struct redis_links *l);

/* Receives the link, also a deleted or blocked one, on another thread while the
 * caller waits.  `answer` is valid during the call. */
typedef void redis_links_fn(void *arg, const struct link_target *target,
			    const struct link_answer *answer);

/*
 * Waits for the link that has the code now.  ERROR_NOTFOUND: there is none, or
 * the text can be no code of these spaces, which is known without Redis.  Any
 * other error: unknown; retriable while Redis is unavailable.  From any thread
 * but those of loops.
 */
int redis_links_find_code(struct redis_links *l, const char *code,
			  redis_links_fn *fn, void *arg, struct error *err);

/* The same for a link that still has its code.  Only the id of a link in a
 * block (strategy sequence) determines its code: others are ERROR_NOTFOUND. */
int redis_links_find_id(struct redis_links *l, uint64_t link_id,
			redis_links_fn *fn, void *arg, struct error *err);

/* The life of the link that has a code now, as Redis has it. */
struct redis_link_life {
	const char *code;
	bool known;	  /* Redis was queried, and what follows is set */
	uint64_t link_id; /* 0: no link has the code */
	Shortloop__LinkState state;
	int64_t ttl_left; /* ms; DURATION_NEVER */
	uint64_t visits;  /* counted so far, of a link with max_visits */
};

/* Reads all of them in one turn, and waits.  A code whose space is not ready
 * stays unknown.  An error is that of one of them; the others may be known. */
int redis_links_read_lives(struct redis_links *l, struct redis_link_life *items,
			   size_t count, struct error *err);

/*
 * Sends a command, which it frees, and waits.  `fn` receives the answer on
 * another thread, during the call.  ERROR_REMOTE, retriable, while Redis is
 * unavailable.
 */
int redis_links_command(struct redis_links *l, struct command *c,
			redis_reply_fn *fn, void *arg, struct error *err);
/* The same for a script of one slot that belongs to no space. */
void redis_links_script(const struct redis_links *l, struct command *c,
			enum link_script script);

/* Returns the end of a link that has that time left (ms), in ms since 1970; 0:
 * it never ends. */
int64_t redis_links_end(int64_t ttl_left);

/* Returns whether Redis is queried for that code as one of the space of that
 * name.  Only then does ERROR_NOTFOUND mean that the space has no such link. */
bool redis_links_covers(const struct redis_links *l, const char *code,
			const char *space);

#endif
