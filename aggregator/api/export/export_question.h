/*
 * export_question.h - the question of a request for an export, and the cursors
 * by which it goes on where another export ended.  Pure: no I/O.
 */
#ifndef AGGREGATOR_API_EXPORT_EXPORT_QUESTION_H
#define AGGREGATOR_API_EXPORT_EXPORT_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/statistics/question.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/keys/key_names.h"
#include "common/url_digest.h"

#define EXPORT_TOPIC_MAX 249 /* bytes of a Kafka topic's name */
#define EXPORT_LIMIT_MAX 1000000000
/* A visitor's identity in hexadecimal, as `aggregator forget` takes it. */
#define EXPORT_VISITOR_TEXT (2 * 20 + 1)

/* Columns that tell one visitor from another: an export has those that it asks
 * for, behind all others. */
enum {
	EXPORT_COOKIES,
	EXPORT_TRACE_ID,
	EXPORT_ALSO_COUNT
};
extern const char *const export_also_names[EXPORT_ALSO_COUNT];

/*
 * The rows of `clicks` that an export has: fixed when it begins, so that rows
 * that arrive meanwhile do not change it.  A row belongs to it if its time is
 * in the range and Kafka took it before append_before_ms; everything up to then
 * is stored.
 */
struct export_range {
	int64_t from_ms, to_ms;	  /* half-open */
	int64_t append_before_ms; /* Kafka took the rows before this */
	uint64_t link_id;	  /* 0: any link */
};

/* A row by its place in the order of exports: UTC days, within a day links, and
 * within a link time. */
struct export_place {
	int64_t ts_ms;
	uint64_t link_id;
	uint64_t offset;
	uint32_t partition, epoch;
	char topic[EXPORT_TOPIC_MAX + 1];
};

struct export_cursor {
	struct export_range range;
	struct export_place after;
};

enum export_format {
	EXPORT_NDJSON,
	EXPORT_CSV,
};
#define EXPORT_FORMAT_COUNT 2

/* A client's weights of the formats, in thousandths: 0 is refused,
 * EXPORT_UNSAID is not given. */
#define EXPORT_UNSAID (-1)
struct export_accept {
	int16_t types[EXPORT_FORMAT_COUNT];
	int16_t ranges[EXPORT_FORMAT_COUNT]; /* "text" with any subtype */
	int16_t any;
};

/* The weights of a request without Accept. */
extern const struct export_accept export_accept_none;

/* Takes the elements of one Accept line; malformed elements and other types are
 * ignored.  The last one wins. */
void export_accept_add(struct export_accept *accept, struct http_slice line);

/* Returns the format that the client prefers (RFC 9110, 12.5.1).  At equal
 * weight that is CSV if it is named, else NDJSON, also for a client that
 * accepts neither. */
enum export_format export_accept_choose(const struct export_accept *accept);

struct export_question {
	char code[CODE_MAX + 1]; /* "": no code was given */
	uint64_t link_id;	 /* 0: no link_id was given */
	bool has_account, has_owner;
	char account[KEY_LISTED_NAME_MAX + 1], owner[KEY_LISTED_NAME_MAX + 1];
	char url[URL_DIGEST_TEXT];	   /* a digest; "": any URL */
	char visitor[EXPORT_VISITOR_TEXT]; /* digits; "": any visitor */
	unsigned also;			   /* a bit for each of EXPORT_... */
	int64_t from_ms, to_ms;		   /* -1: not given */
	uint64_t limit;			   /* 0: all */
	enum export_format format;
	bool has_cursor;
	struct export_cursor cursor;
};

/*
 * Reads a query string; `likes` is the format if the query names none.  A
 * parameter that is unknown, repeated or invalid, and a cursor that is damaged
 * or of other parameters, is ERROR_INPUT; the text names it.
 */
int export_question_parse(struct export_question *q, struct http_slice query,
			  enum export_format likes, struct error *err);

/*
 * A cursor names a row and the range of an export, and carries a digest of both
 * and of the question.  It is no secret and grants no right: the key of each
 * request decides anew what is seen.
 */
void export_cursor_put(struct buf *out, const struct export_question *q,
		       const struct export_cursor *cursor);
int export_cursor_parse(const struct export_question *q, const char *text,
			struct export_cursor *ret, struct error *err);

#endif
