/*
 * idempotency.h - what came of a request that may be sent again.
 *
 * `i:{<key>}` in Redis is written before the link is: a plan that names the
 * code and the link_id about to be stored, and until when the store may happen
 * (the create scripts refuse later ones, see `deadline` there).  A request sent
 * again finds the plan and looks whether a link with that link_id is there:
 *
 *	it is			the answer is that link
 *	it is not, plan done	the link has ended since
 *	it is not, before	the first request is still under way
 *	the deadline
 *	it is not, after it	nothing was stored and nothing will be: the plan
 *				may be replaced, by comparing it whole; unless
 *				its link may have ended already, which nobody
 *				can tell from one that was not stored
 *
 * So no moment at which an allocator can be killed leaves two links, or a
 * request that can never be answered.  Each record is a slot of its own.
 */
#ifndef LINKSTORE_IDEMPOTENCY_H
#define LINKSTORE_IDEMPOTENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

#define IDEM_KEY_MAX	33  /* 32 hexadecimal digits and the NUL */
#define IDEM_RECORD_MAX 192 /* with its NUL */

/* How long a store may take from its plan on (ms). */
#define IDEM_WINDOW INT64_C(30000)
/* How long a record is kept (ms). */
#define IDEM_KEEP (INT64_C(24) * 3600 * 1000)

struct idem_record {
	/* As Redis has it, to compare with; "" when there is none. */
	char text[IDEM_RECORD_MAX];
	bool done;
	int64_t deadline;		/* ms by Redis' clock */
	char fingerprint[IDEM_KEY_MAX]; /* of the request */
	uint64_t link_id;
	char code[ALIAS_TEXT_MAX];
};

/* Reads a record as Redis has it, "" for none.  ERROR_PROTOCOL: it is damaged.
 */
int idem_record_parse(const char *text, struct idem_record *ret,
		      struct error *err);

/* `record` is valid during the call; NULL when err is not.  `now` is Redis'
 * clock (ms).  `written` counts for idem_write_async. */
typedef void idem_fn(void *arg, const struct idem_record *record, int64_t now,
		     bool written, const struct error *err);

int idem_read_async(struct redis_async *redis, const struct linkstore *store,
		    const char key[IDEM_KEY_MAX], idem_fn *fn, void *arg,
		    struct error *err);

/*
 * Writes a plan, or with values->done what was done, in place of the record
 * whose text is `expected` ("": none).  The record handed to `fn` is the one
 * that is there now: ours when `written`.  Of `values`, done, fingerprint,
 * link_id and code count.
 */
int idem_write_async(struct redis_async *redis, const struct linkstore *store,
		     const char key[IDEM_KEY_MAX], const char *expected,
		     const struct idem_record *values, idem_fn *fn, void *arg,
		     struct error *err);

/* The plan with this text was carried out, or (false) never will be.  Nobody
 * waits for the answer: a plan left behind is judged by the link. */
int idem_end_async(struct redis_async *redis, const struct linkstore *store,
		   const char key[IDEM_KEY_MAX], const char *plan, bool done,
		   struct error *err);

#endif
