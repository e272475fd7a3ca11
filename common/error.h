/*
 * error.h - one error value, filled by the callee, owned by the caller.
 *
 * A function that can fail takes `struct error *err` last and returns 0 or -1
 * (or a pointer, NULL on failure).  On success *err is left as it was.  There
 * is nothing to free.  `err` is never NULL.
 */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include <stdbool.h>

enum error_code {
	ERROR_NONE = 0,
	ERROR_CONFIG,	 /* the operator must edit a file */
	ERROR_USAGE,	 /* the command line is wrong */
	ERROR_SYSTEM,	 /* a system call failed; see `sys` */
	ERROR_REMOTE,	 /* Redis, Kafka or ClickHouse refused or is away */
	ERROR_PROTOCOL,	 /* a peer sent something malformed */
	ERROR_INPUT,	 /* a value given to us is not acceptable */
	ERROR_NOTFOUND,	 /* what was asked for does not exist */
	ERROR_BUSY,	 /* not now: somebody holds it, or it is in use */
	ERROR_NOT_OWNER, /* it is, or has become, somebody else's */
	ERROR_TAKEN,	 /* the name is reserved, or may be another's */
	ERROR_EXHAUSTED, /* all there was has been given out */
	ERROR_FULL,	 /* a queue takes no more for now */
	ERROR_STOPPED,	 /* ended before it was done, as it was told to */
	ERROR_UNSAFE,	 /* refused, because going on could do harm */
	ERROR_DAMAGED,	 /* what is stored cannot be read; nothing was done */
	ERROR_CONFLICT,	 /* it has changed since it was read: read it again */
	ERROR_LATE,	 /* the time for it has passed: nothing was done */
	ERROR_NOMEM,
};

struct error {
	enum error_code code;
	int sys;	/* errno at the point of failure, or 0 */
	bool retriable; /* the same call may succeed later */
	/* What may be told to strangers in place of `text`, which has words of
	 * a server's, or where it is; a literal.  NULL: the text itself. */
	const char *outside;
	/* One line of UTF-8; control characters and what is no UTF-8 in what it
	 * quotes are question marks. */
	char text[512];
};

/* Fills *err.  Returns -1, so that a line can be `return error_set(...)`. */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with retriable set: a peer that is away, a queue that is full. */
int error_set_retriable(struct error *err, enum error_code code,
			const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes errno as the cause and appends its text.  Returns -1. */
int error_set_errno(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Marks that the text is for operators, and `outside` for strangers; copies and
 * error_wrap keep that.  Returns -1. */
int error_keep_inside(struct error *err, const char *outside);

/* What may be answered to a request that failed: no server's own words. */
const char *error_outside(const struct error *err);

/* Out of memory.  Returns -1. */
int error_set_nomem(struct error *err);

/* Prepends "context: "; code, sys and retriable stay.  Returns -1. */
int error_wrap(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The exit status (sysexits.h) that tells a caller what kind of failure it
 * was: 78 config, 64 usage, 75 try again, 70 refused for safety, 71 system,
 * 69 a peer is away, 65 bad data.
 */
int error_exit_status(const struct error *err);

/* Is a later try of no use until somebody has looked?  All but 75. */
bool error_needs_a_person(const struct error *err);

/* Of several failures, is `err` the one to end with rather than `than`, which
 * came first?  Whoever starts programs tries again after one that passes by
 * itself, and must not after one that needs a person. */
bool error_is_worse(const struct error *err, const struct error *than);

#endif
