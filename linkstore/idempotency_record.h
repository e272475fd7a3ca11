/*
 * idempotency_record.h - the record of a request that may be sent again.
 *
 * `i:{<key>}` in Redis is written before the link is.  It is a plan that has
 * the code and the link_id about to be stored, and the deadline of the store
 * (the create scripts refuse later ones, see `deadline` there).  A request that
 * is sent again finds the plan and looks up whether a link with that link_id
 * exists:
 *
 *	it does			the answer is that link
 *	no, plan done		the link has ended since
 *	no, before the		the first request is still under way
 *	deadline
 *	no, after it		nothing was stored and nothing will be: the plan
 *				may be replaced, if its text is unchanged;
 *				unless its link may have ended already, which
 *				looks the same as a link that was not stored
 *
 * So whenever an allocator is killed, there are never two links, and every
 * request can be answered.  Each record has a Redis slot of its own.
 */
#ifndef LINKSTORE_IDEMPOTENCY_RECORD_H
#define LINKSTORE_IDEMPOTENCY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

#define IDEM_KEY_MAX	33  /* 32 hexadecimal digits and the NUL */
#define IDEM_RECORD_MAX 192 /* including NUL */

/* Longest time from a plan to its store (ms). */
#define IDEM_WINDOW INT64_C(30000)
/* Lifetime of a record (ms). */
#define IDEM_KEEP (INT64_C(24) * 3600 * 1000)

struct idem_record {
	/* The text in Redis, to compare with; "" if there is none. */
	char text[IDEM_RECORD_MAX];
	bool done;
	int64_t deadline;		/* ms by Redis' clock */
	char fingerprint[IDEM_KEY_MAX]; /* the request's */
	uint64_t link_id;
	char code[ALIAS_TEXT_MAX];
};

/* Parses a record from Redis, "" for none.  ERROR_PROTOCOL: it is damaged. */
int idem_record_parse(const char *text, struct idem_record *ret,
		      struct error *err);

/* `record` is valid during the call; it is NULL if err is set.  `now` is Redis'
 * clock (ms).  `written` is valid for idem_write_async. */
typedef void idem_fn(void *arg, const struct idem_record *record, int64_t now,
		     bool written, const struct error *err);

int idem_read_async(struct redis_async *redis, const struct linkstore *store,
		    const char key[IDEM_KEY_MAX], idem_fn *fn, void *arg,
		    struct error *err);

/*
 * Writes a plan, or if values->done a result, in place of the record whose text
 * is `expected` ("": none).  `fn` receives the record that is there now: ours
 * if `written`.  Only done, fingerprint, link_id and code of `values` are used.
 */
int idem_write_async(struct redis_async *redis, const struct linkstore *store,
		     const char key[IDEM_KEY_MAX], const char *expected,
		     const struct idem_record *values, idem_fn *fn, void *arg,
		     struct error *err);

/* Notes that the plan with this text was carried out, or (false) never will be.
 * No caller waits for the answer: if the plan stays, its link decides. */
int idem_end_async(struct redis_async *redis, const struct linkstore *store,
		   const char key[IDEM_KEY_MAX], const char *plan, bool done,
		   struct error *err);

#endif
