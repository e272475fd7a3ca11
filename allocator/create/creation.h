/*
 * creation.h - a link on its way.
 *
 * A URL that is blocked for the account ends it (linkstore/url_blocks.h).  The
 * space's strategy chooses the code; then the link is stored in Redis,
 * reported to Kafka and written to the audit.  With an Idempotency-Key what is
 * about to be stored is noted first, so that the same request sent again finds
 * out whether it was (idempotency.h).
 *
 *	        check the URLs
 *	               |
 *	               v
 *	       read the key's record
 *	               |
 *	               v                  the code is taken
 *	+-----> choose a code <--------------------------------+
 *	|              |                                       |
 *	|              v                                       |
 *	|      charge the account                              |
 *	|              |                                       |
 *	|              v                                       |
 *	+------ plan the link -----> store the link -----------+
 *	another request                |  ^  |
 *	was faster                     +--+  v
 *	                  answer lost        reported
 *
 * Without a key there is no record and no plan.  Each step may end the
 * creation, as what was found (creation_found) or with a problem.
 *
 * Belongs to its loop's thread.
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
#include "linkstore/block/create.h"
#include "linkstore/space/space_monitor.h"
#include "linkstore/target.h"
#include "linkstore/url_checker.h"

struct idempotency;
struct strategy;

/* Shared by all threads. */
struct creation_metrics {
	/* By outcome.  `found`: the link was there (strategy hash);
	 * `replayed`: an earlier request of this key has made it. */
	struct metric *created, *found, *replayed, *invalid, *denied, *taken,
		*unavailable, *full;
	struct metric *seconds;	  /* of those that succeeded */
	struct metric *conflicts; /* a live link under a fresh code */
	struct metric *retries;	  /* tries beyond a create's first */
};
void creation_metrics_register(struct creation_metrics *cm, struct metrics *m);

/* What creations work with; all of it outlives them. */
struct creation_context {
	struct redis_async *redis; /* of this thread */
	const struct redis_reserve *reserve;
	struct url_checker *urls;      /* of this thread */
	struct link_writer *writer;    /* of this thread */
	struct block_pool *block_pool; /* of this thread */
	const struct space_monitor *spaces;
	struct link_events *events;
	struct audit *audit;	  /* NULL: none */
	struct id_generator *ids; /* NULL: no space needs them */
	const struct creation_metrics *metrics;
	struct log *log;
	struct log_pace *failures; /* of all threads: what Redis refuses */
	uint64_t *created;	   /* of this thread: links by space index */
};

struct creation_order {
	/* All stay the caller's, and valid until it is done unless said
	 * otherwise. */
	const struct link_request *request;
	const struct api_key_info *caller; /* read within create_link only */
	const struct audit_source *source;
	/* The Idempotency-Key, the batch's line (0: a single create) and the
	 * bytes of the request; {NULL, 0}: none was sent. */
	struct http_slice key;
	uint64_t line;
	struct http_slice body; /* read within create_link only */
};

/* Valid during the call. */
struct creation_result {
	int status; /* 201; 200: a link that was there; or a problem's */
	const char *detail;   /* of a problem: what to do */
	unsigned retry_after; /* s, of a problem; 0: not said */
	bool replayed;	      /* earned by an earlier request */
	const struct link_space *space;
	const char *code;
	const Shortloop__Link *link;
	int64_t expires; /* ms since 1970, or DURATION_NEVER */
};
typedef void creation_done_fn(void *arg, const struct creation_result *result);

/* Is the link of this creation in Redis? */
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
	/* Of the caller, who may be another by the time it is stored. */
	char account[API_KEY_NAME_MAX], creator[API_KEY_NAME_MAX];
	int64_t started; /* clock_monotonic_ns */

	struct link_target target;
	Shortloop__Link link;
	enum link_fate fate;
	unsigned tries;
	unsigned retry_after; /* s, to be said of a refusal; 0: as usual */

	struct charge charge;
	struct idempotency *idempotency; /* NULL: without a key */
	int64_t deadline; /* of the store, by Redis' clock; 0: none */

	struct {
		struct class_pool *pool;
		struct class_pool_request request;
		struct link_block block;
	} sequence; /* of that strategy */
	struct {
		unsigned candidate;
		bool looked; /* for a link that is there */
	} hash;		     /* of that strategy */
};

/* Begins a creation; calls `done` exactly once, perhaps before it returns. */
void creation_begin(const struct creation_context *context,
		    const struct creation_order *order,
		    const struct strategy *strategy, creation_done_fn *done,
		    void *arg);

/* Logs an error whose text is not for answers (error_outside). */
void creation_log_failure(const struct creation_context *context,
			  const struct error *err);

/* --- for strategies ------------------------------------------------------- */

/* Might the link be refused, were it not there yet? */
bool creation_might_be_refused(const struct creation *c);

/* The code and the link are chosen. */
void creation_code_chosen(struct creation *c);

/* `expires` counts when err is NULL. */
void creation_stored(struct creation *c, int64_t expires,
		     const struct error *err);

/* The code was taken after all: counts it and logs it. */
void creation_count_conflict(struct creation *c, const struct error *err);

/* Takes another code, unless that was tried often enough. */
void creation_retry(struct creation *c, const struct error *err);

/* Ends it with a link that was there, which has `left` ms. */
void creation_found(struct creation *c, const Shortloop__Link *link,
		    int64_t left);

/* Ends it with the problem that this error is to a client. */
void creation_fail(struct creation *c, const struct error *err);

/* Ends it: a moderator has blocked this URL of the link, or `url` NULL, the
 * link that is there already. */
void creation_refuse_blocked(struct creation *c, const char *url);

/* Ends it with a problem. */
void creation_refuse(struct creation *c, int status, struct metric *outcome,
		     const char *detail);

#endif
