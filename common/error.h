/*
 * error.h - one error value, filled by the callee, owned by the caller.
 *
 * A function that can fail takes `struct error *err` last and returns 0 or -1
 * (or a pointer, NULL on failure).  On success *err is unchanged.  There is
 * nothing to free.  `err` is never NULL.
 */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include <stdbool.h>

enum error_code {
	ERROR_NONE = 0,
	ERROR_CONFIG,	 /* the operator must edit a file */
	ERROR_USAGE,	 /* the command line is wrong */
	ERROR_SYSTEM,	 /* a system call failed; see `sys` */
	ERROR_REMOTE,	 /* Redis, Kafka or ClickHouse refused or is down */
	ERROR_PROTOCOL,	 /* a peer sent something malformed */
	ERROR_INPUT,	 /* a value passed to us is not acceptable */
	ERROR_NOTFOUND,	 /* the requested object does not exist */
	ERROR_BUSY,	 /* not now: another holds it, or it is in use */
	ERROR_NOT_OWNER, /* it belongs to another owner, or now does */
	ERROR_TAKEN,	 /* the name is reserved, or may belong to another */
	ERROR_EXHAUSTED, /* all of it is used up */
	ERROR_FULL,	 /* a queue accepts no more for now */
	ERROR_STOPPED,	 /* ended early on request */
	ERROR_UNSAFE,	 /* refused, because continuing could do harm */
	ERROR_DAMAGED,	 /* stored data cannot be read; nothing was done */
	ERROR_CONFLICT,	 /* it has changed since it was read: read it again */
	ERROR_LATE,	 /* too late: nothing was done */
	ERROR_NOMEM,
};

struct error {
	enum error_code code;
	int sys;	/* errno at the point of failure, or 0 */
	bool retriable; /* the same call may succeed later */
	/* The text for clients in place of `text`, which contains a server's
	 * message or address; a literal.  NULL: `text` itself. */
	const char *outside;
	/* The name of the parameter, or of the member of a body, that is wrong;
	 * "": none, or not one alone.  Programs read it: docs/problems.md. */
	char field[64];
	/* One line of UTF-8; in quoted text, control characters and bytes that
	 * are not UTF-8 are replaced by question marks. */
	char text[512];
};

/* Fills *err.  Returns -1, so that a line can be `return error_set(...)`. */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with retriable set: a peer that is down, a queue that is full. */
int error_set_retriable(struct error *err, enum error_code code,
			const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes errno as the cause and appends its text.  Returns -1. */
int error_set_errno(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Marks the text as for operators only, and `outside` as for clients; copies
 * and error_wrap keep that.  Returns -1. */
int error_keep_inside(struct error *err, const char *outside);

/* Returns the text that a failed request may be answered with: no message of
 * another server. */
const char *error_outside(const struct error *err);

/* ERROR_INPUT about a field; the text becomes "field: ...". */
int error_set_field(struct error *err, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Names the field that an error is about, up to 63 bytes; the text stays.
 * Copies and error_wrap keep the name.  Returns -1. */
int error_name_field(struct error *err, const char *field);

/* The same, and prepends "field: ". */
int error_wrap_field(struct error *err, const char *field);

/* Out of memory.  Returns -1. */
int error_set_nomem(struct error *err);

/* Prepends "context: "; code, sys and retriable stay.  Returns -1. */
int error_wrap(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Returns the exit status (sysexits.h) for the kind of failure: 78 config, 64
 * usage, 75 try again, 70 refused for safety, 71 system, 69 a peer is down, 65
 * bad data.
 */
int error_exit_status(const struct error *err);

/* Returns true if a retry is useless until a person has acted: for all but
 * 75. */
bool error_needs_a_person(const struct error *err);

/* Returns true if, of several failures, `err` should decide the exit status
 * rather than `than`, which came first.  A service manager retries after a
 * temporary failure, and must not after one that needs a person. */
bool error_is_worse(const struct error *err, const struct error *than);

#endif
