/*
 * idempotency.h - creations that have an Idempotency-Key.
 *
 * The flow is that of linkstore/idempotency_record.h.  idempotency_read looks
 * up the key's record.  If the record's link is there, it is the answer.
 * Otherwise a code is chosen, idempotency_plan notes it, the link is stored
 * before the plan's deadline, and idempotency_end notes that it was stored.  If
 * the code follows from the request, the plan prevents other requests from
 * using the key.  The link may then turn out to be another one that was there:
 * idempotency_note_done notes it, and the same request may be sent again
 * without a wait.
 */
#ifndef ALLOCATOR_CREATE_IDEMPOTENCY_H
#define ALLOCATOR_CREATE_IDEMPOTENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

#define IDEMPOTENCY_KEY_MAX 255 /* bytes of an Idempotency-Key */
#define IDEMPOTENCY_KEY_EXPECTED                                               \
	"Idempotency-Key: expected 1 to 255 visible ASCII characters"

/* Returns whether the key has 1 to IDEMPOTENCY_KEY_MAX visible ASCII
 * characters. */
bool idempotency_key_is_valid(struct http_slice key);

enum idempotency_outcome {
	/* No link was created with the key, and no earlier request will create
	 * one: choose a code. */
	IDEMPOTENCY_PROCEED,
	IDEMPOTENCY_PLANNED, /* store the link, before `deadline` */
	IDEMPOTENCY_REPLAY,  /* an earlier request created `link` */
	IDEMPOTENCY_REFUSED, /* answer `status` and `detail` */
	IDEMPOTENCY_FAILED,  /* `err` */
};

/* Valid during the call. */
struct idempotency_answer {
	enum idempotency_outcome outcome;
	int64_t deadline; /* by Redis' clock; for PLANNED */
	const struct link_target *target;
	const Shortloop__Link *link;
	int64_t left;  /* ms until the link ends */
	bool reported; /* certainly, to Kafka and the audit */
	int status;
	const char *detail;
	bool temporary; /* the request may be sent again soon */
	const struct error *err;
};

/* May free the idempotency that it is called for. */
typedef void idempotency_fn(void *arg, const struct idempotency_answer *answer);

/* The request of a creation. */
struct idempotency_request {
	const char *account;
	struct http_slice key;
	uint64_t line; /* line of a batch; 0: a single create */
	struct http_slice body;
	int64_t ttl; /* ms that the link lives at least, or DURATION_NEVER */
	bool is_repeatable; /* the same request gets the same code */
};

struct idempotency;

/* Returns NULL if memory runs out.  `request` is read during the call only. */
struct idempotency *idempotency_new(const struct idempotency_request *request,
				    struct redis_async *redis,
				    const struct linkstore *store,
				    idempotency_fn *fn, void *arg);
/* Must not be called while an answer is awaited. */
void idempotency_free(struct idempotency *i);

/* Looks up the key.  Answers PROCEED, REPLAY, REFUSED or FAILED. */
void idempotency_read(struct idempotency *i);

/* Notes the link that is about to be stored.  Answers PLANNED, or, if another
 * request with this key was faster, the same as idempotency_read. */
void idempotency_plan(struct idempotency *i, const char *code,
		      uint64_t link_id);

/* Notes that the planned link was stored (or was there), or never will be.  No
 * caller waits for the answer: if the plan stays, its link decides. */
void idempotency_end(struct idempotency *i, bool stored);

/* The same for a link other than the planned one, or without a plan. */
void idempotency_note_done(struct idempotency *i, const char *code,
			   uint64_t link_id);

#endif
