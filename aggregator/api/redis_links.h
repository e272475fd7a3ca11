/*
 * redis_links.h - the links that Redis has, for threads that may wait: what
 * allocators have made and the archive may not know yet.
 *
 * One thread with a loop and one connection asks for all of them, by the
 * look-up that visits are answered with.  Who asks waits for the answer, and
 * never longer than redis.command_timeout: then the connection is made anew,
 * which fails all that wait for it, and while it is away everything asked is
 * refused at once.  So a Redis that hangs holds the workers up once, not each
 * time.
 *
 * Spaces are compared with their records in Redis, as in the other programs.
 * Nothing is said of the links of a space before it was found right: another
 * key makes other codes.
 */
#ifndef AGGREGATOR_API_REDIS_LINKS_H
#define AGGREGATOR_API_REDIS_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/block/lookup.h"

struct redis_links;

struct redis_links_options {
	const struct aggregator_config *config; /* with links.spaces */
	struct log *log;
	struct metrics *metrics;
	struct health *health; /* told once the spaces were looked at */
};

/* The options' parts must outlive it. */
struct redis_links *redis_links_new(const struct redis_links_options *options,
				    struct error *err);
int redis_links_start(struct redis_links *l, struct error *err);
/* Once nobody asks any more.  NULL accepted. */
void redis_links_free(struct redis_links *l);

/* Given the link, deleted and blocked ones, too, on another thread while the
 * one that asked waits.  `answer` is valid during the call. */
typedef void redis_links_fn(void *arg, const struct link_target *target,
			    const struct link_answer *answer);

/*
 * Waits for the link that has the code now.  ERROR_NOTFOUND: there is none, or
 * the text can be no code of ours, which takes no Redis to tell.  Any other
 * error: it cannot be told; retriable while Redis is away.  From any thread but
 * those of loops.
 */
int redis_links_find_code(struct redis_links *l, const char *code,
			  redis_links_fn *fn, void *arg, struct error *err);

/* The same of a link that has its code still.  Only the id of a link in a block
 * (strategy sequence) tells its code: others are ERROR_NOTFOUND. */
int redis_links_find_id(struct redis_links *l, uint64_t link_id,
			redis_links_fn *fn, void *arg, struct error *err);

/* Whether Redis is asked for that code as one of the space of that name: only
 * then does ERROR_NOTFOUND say that the space has no such link. */
bool redis_links_covers(const struct redis_links *l, const char *code,
			const char *space);

#endif
