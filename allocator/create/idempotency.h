/*
 * idempotency.h - creations that carry an Idempotency-Key.
 *
 * The flow of linkstore/idempotency.h: idempotency_read looks the key's record
 * up; if it says that the link is there, that is the answer; else a code is
 * chosen, idempotency_plan notes it, the link is stored before the plan's
 * deadline, and idempotency_end notes that it was.  Where the code follows from
 * the request, the plan keeps other requests from using the key; the link may
 * turn out to be another that was there, which idempotency_note_done says, and
 * the same request sent again waits for nothing.
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

/* Is it 1 to IDEMPOTENCY_KEY_MAX visible ASCII characters? */
bool idempotency_key_is_valid(struct http_slice key);

enum idempotency_outcome {
	/* No link came of the key, and none will of an earlier request: choose
	 * a code. */
	IDEMPOTENCY_PROCEED,
	IDEMPOTENCY_PLANNED, /* store the link, before `deadline` */
	IDEMPOTENCY_REPLAY,  /* an earlier request has created `link` */
	IDEMPOTENCY_REFUSED, /* answer `status` and `detail` */
	IDEMPOTENCY_FAILED,  /* `err` */
};

/* Valid during the call. */
struct idempotency_answer {
	enum idempotency_outcome outcome;
	int64_t deadline; /* by Redis' clock */
	const struct link_target *target;
	const Shortloop__Link *link;
	int64_t left;  /* ms of the link */
	bool reported; /* to Kafka and the audit, certainly */
	int status;
	const char *detail;
	bool temporary; /* the request may be sent again soon */
	const struct error *err;
};

/* May free the idempotency that it is called for. */
typedef void idempotency_fn(void *arg, const struct idempotency_answer *answer);

/* What a creation was asked for by. */
struct idempotency_request {
	const char *account;
	struct http_slice key;
	uint64_t line; /* of a batch; 0: a single create */
	struct http_slice body;
	int64_t ttl; /* ms that its link lives at least, or DURATION_NEVER */
	bool is_repeatable; /* the same request gets the same code */
};

struct idempotency;

/* NULL: out of memory.  `request` is read within the call. */
struct idempotency *idempotency_new(const struct idempotency_request *request,
				    struct redis_async *redis,
				    const struct linkstore *store,
				    idempotency_fn *fn, void *arg);
/* Not while an answer is awaited. */
void idempotency_free(struct idempotency *i);

/* Looks the key up.  PROCEED, REPLAY, REFUSED or FAILED. */
void idempotency_read(struct idempotency *i);

/* Notes the link that is about to be stored.  PLANNED, or, when another request
 * of this key was faster, what idempotency_read answers. */
void idempotency_plan(struct idempotency *i, const char *code,
		      uint64_t link_id);

/* The planned link was stored (or was there), or never will be.  Nobody waits
 * for the answer: a plan left behind is judged by the link. */
void idempotency_end(struct idempotency *i, bool stored);

/* The same for a link other than the planned one, or without a plan. */
void idempotency_note_done(struct idempotency *i, const char *code,
			   uint64_t link_id);

#endif
