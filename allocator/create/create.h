/*
 * create.h - creating one link: the one way that a single request and a line
 * of a batch take.
 *
 * The space's strategy chooses the code; then the link is stored in Redis, told
 * to Kafka and written to the audit.  With an Idempotency-Key what is about to
 * be stored is noted first, so that the same request sent again finds out
 * whether it was (linkstore/idempotency.h).
 *
 * Belongs to its loop's thread.
 */
#ifndef ALLOCATOR_CREATE_CREATE_H
#define ALLOCATOR_CREATE_CREATE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/audit/audit.h"
#include "allocator/block_pool/block_pool.h"
#include "allocator/create/ids.h"
#include "allocator/keys/api_keyring.h"
#include "allocator/link/link_request.h"
#include "allocator/link_events.h"
#include "allocator/reserve.h"
#include "allocator/space_watch.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/block/create.h"
#include "linkstore/quota.h"

/* Shared by all threads. */
struct create_metrics {
	/* By outcome.  `found`: the link was there (strategy hash);
	 * `replayed`: an earlier request of this key has made it. */
	struct metric *created, *found, *replayed, *invalid, *denied, *taken,
		*unavailable, *full;
	struct metric *seconds;	  /* of those that succeeded */
	struct metric *conflicts; /* a live link under a fresh code */
	struct metric *retries;	  /* tries beyond a create's first */
};
void create_metrics_register(struct create_metrics *cm, struct metrics *m);

/* What creating works with; all of it outlives every create. */
struct create_parts {
	struct redis_async *redis; /* of this thread */
	struct api_keyring *keys;
	const struct redis_reserve *reserve;
	struct link_writer *writer;    /* of this thread */
	struct block_pool *block_pool; /* of this thread */
	const struct space_watch *spaces;
	struct link_events *events;
	struct audit *audit;	/* NULL: none */
	struct create_ids *ids; /* NULL: no space needs them */
	const struct create_metrics *metrics;
	struct log *log;
	struct log_pace *failures; /* of all threads: what Redis refuses */
	uint64_t *created;	   /* of this thread: links by space index */
};

struct create_order {
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
struct create_result {
	int status; /* 201; 200: a link that was there; or a problem's */
	const char *detail;   /* of a problem: what to do */
	unsigned retry_after; /* s, of a problem; 0: not said */
	bool replayed;	      /* earned by an earlier request */
	const struct link_space *space;
	const char *code;
	const Shortloop__Link *link;
	int64_t expires; /* ms since 1970, or DURATION_NEVER */
};
typedef void create_done_fn(void *arg, const struct create_result *result);

#define CREATE_KEY_MAX 255 /* bytes of an Idempotency-Key */
#define CREATE_KEY_EXPECTED                                                    \
	"Idempotency-Key: expected 1 to 255 visible ASCII characters"

/* Is it 1 to CREATE_KEY_MAX visible ASCII characters? */
bool create_key_is_good(struct http_slice key);

/* Logs an error whose text is not for answers (error_outside). */
void create_log_failure(const struct create_parts *parts,
			const struct error *err);

#define CHARGE_TEXT_MAX 256

/* What to say to an account that was not given what it may not have; counts
 * it. */
void charge_refusal(const struct quota_answer *answer,
		    const struct account_rules *rules, const char *account,
		    char text[CHARGE_TEXT_MAX]);

/* Calls `done` exactly once, perhaps before it returns. */
void create_link(const struct create_parts *parts,
		 const struct create_order *order, create_done_fn *done,
		 void *arg);

#endif
