/*
 * creation.h - the steps that create one link.
 *
 * A URL that is blocked for the account ends the creation
 * (linkstore/url_blocks.h).  The space's strategy chooses the code; then the
 * link is stored in Redis, reported to Kafka and written to the audit.  With an
 * Idempotency-Key, the link is planned in the key's record before it is stored.
 * If the same request is sent again, the record shows whether it was stored
 * (idempotency.h).
 *
 *         check the URLs
 *                |
 *                v
 *        read the key's record
 *                |
 *                v                  the code is taken
 * +-----> choose a code <--------------------------------+
 * |              |                                       |
 * |              v                                       |
 * |      charge the account                              |
 * |              |                                       |
 * |              v                                       |
 * +------ plan the link -----> store the link -----------+
 * another request                |  ^  |
 * was faster                     +--+  v
 *                   answer lost        reported
 *
 * Without a key there is no record and no plan.  Each step may end the
 * creation, with a link that was there (creation_found) or with a problem.
 *
 * A creation belongs to its loop's thread.
 */
#ifndef ALLOCATOR_CREATE_CREATION_H
#define ALLOCATOR_CREATE_CREATION_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/audit/audit.h"
#include "allocator/block_pool/block_pool.h"
#include "allocator/create/charge.h"
#include "allocator/create/id_generator.h"
#include "allocator/link/link_request.h"
#include "allocator/link_events.h"
#include "allocator/redis_reserve.h"
#include "common/keys/api_keyring.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/block/create_links.h"
#include "linkstore/space/space_monitor.h"
#include "linkstore/target.h"
#include "linkstore/url_checker.h"

struct idempotency;
struct strategy;

/* Shared by all threads. */
struct creation_metrics {
	/* Counted by outcome.  `found`: the link was there (strategy hash);
	 * `replayed`: an earlier request with this key created it. */
	struct metric *created, *found, *replayed, *invalid, *denied, *taken,
		*unavailable, *full;
	struct metric *seconds;	  /* duration of successful creations */
	struct metric *conflicts; /* a live link was under a fresh code */
	struct metric *retries;	  /* tries after the first */
};
void creation_metrics_register(struct creation_metrics *cm, struct metrics *m);

/* The data that creations work with; all of it outlives them. */
struct creation_context {
	struct redis_async *redis; /* this thread's */
	const struct redis_reserve *reserve;
	struct url_checker *urls;      /* this thread's */
	struct link_writer *writer;    /* this thread's */
	struct block_pool *block_pool; /* this thread's */
	const struct space_monitor *spaces;
	struct link_events *events;
	struct audit *audit;	  /* NULL: none */
	struct id_generator *ids; /* NULL: no space needs ids */
	const struct creation_metrics *metrics;
	struct log *log;
	struct log_pace *failures; /* refusals by Redis, all threads */
	uint64_t *created;	   /* this thread's links by space index */
};

struct creation_order {
	/* The caller owns all members; they are valid until the creation is
	 * done, unless a member says otherwise. */
	const struct link_request *request;
	const struct api_key_info *caller; /* read during create_link only */
	const struct audit_source *source;
	/* The Idempotency-Key, the line of the batch (0: a single create) and
	 * the bytes of the request; {NULL, 0}: no key was sent. */
	struct http_slice key;
	uint64_t line;
	struct http_slice body; /* read during create_link only */
};

/* Valid during the call. */
struct creation_result {
	int status;	    /* 201; 200: the link was there; or of a problem */
	const char *detail; /* advice, for a problem */
	const char *type;   /* of a problem; NULL: that of its status */
	unsigned retry_after; /* s, for a problem; 0: not given */
	bool replayed;	      /* created by an earlier request */
	const struct link_space *space;
	const char *code;
	const Shortloop__Link *link;
	int64_t expires; /* ms since 1970, or DURATION_NEVER */
};
typedef void creation_done_fn(void *arg, const struct creation_result *result);

/* Whether the link of this creation is in Redis. */
enum link_fate {
	LINK_NOT_STORED,
	LINK_UNSURE, /* the answer to an earlier try was lost */
	LINK_STORED,
};

struct creation {
	const struct creation_context *context;
	struct creation_order order;
	creation_done_fn *done;
	void *arg;
	const struct strategy *strategy;
	/* Copies of the caller's names: when the link is stored, `caller` may
	 * be gone. */
	char account[API_KEY_NAME_MAX], creator[API_KEY_NAME_MAX];
	int64_t started; /* clock_monotonic_ns */

	struct link_target target;
	Shortloop__Link link;
	enum link_fate fate;
	unsigned tries;
	unsigned retry_after; /* s, for a refusal; 0: the default */
	const char *problem;  /* its type; NULL: that of its status */

	struct charge charge;
	struct idempotency *idempotency; /* NULL: without a key */
	int64_t deadline; /* for storing, by Redis' clock; 0: none */

	struct {
		struct class_pool *pool;
		struct class_pool_request request;
		struct link_block block;
	} sequence; /* for strategy sequence */
	struct {
		unsigned candidate;
		bool looked; /* an existing link was looked up */
	} hash;		     /* for strategy hash */
};

/* Starts a creation.  Calls `done` exactly once, perhaps before it returns. */
void creation_begin(const struct creation_context *context,
		    const struct creation_order *order,
		    const struct strategy *strategy, creation_done_fn *done,
		    void *arg);

/* Logs an error whose text must not be in answers (error_outside). */
void creation_log_failure(const struct creation_context *context,
			  const struct error *err);

/* --- functions for strategies --------------------------------------------- */

/* Returns whether the link might be refused if it does not exist yet. */
bool creation_might_be_refused(const struct creation *c);

/* The strategy has chosen the code and filled the link. */
void creation_code_chosen(struct creation *c);

/* `expires` is valid if err is NULL. */
void creation_stored(struct creation *c, int64_t expires,
		     const struct error *err);

/* Counts and logs that the code turned out to be taken. */
void creation_count_conflict(struct creation *c, const struct error *err);

/* Takes another code, unless too many were tried. */
void creation_retry(struct creation *c, const struct error *err);

/* Ends the creation with a link that was there and that lives for `left` ms. */
void creation_found(struct creation *c, const Shortloop__Link *link,
		    int64_t left);

/* Ends the creation with the problem that stands for this error. */
void creation_fail(struct creation *c, const struct error *err);

/* Ends the creation because a moderator has blocked this URL of the link, or,
 * if `url` is NULL, the link that is there already. */
void creation_refuse_blocked(struct creation *c, const char *url);

/* Ends the creation with a problem. */
void creation_refuse(struct creation *c, int status, struct metric *outcome,
		     const char *detail);

#endif
