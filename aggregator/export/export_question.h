/*
 * export_question.h - what a request for an export asks, and the cursors by
 * which it goes on where another ended.  Pure: no I/O.
 */
#ifndef AGGREGATOR_EXPORT_EXPORT_QUESTION_H
#define AGGREGATOR_EXPORT_EXPORT_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/question.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/keys/key_names.h"

#define EXPORT_TOPIC_MAX 249 /* of a Kafka topic's name */
#define EXPORT_LIMIT_MAX 1000000000

/*
 * Which rows of `clicks` an export has: fixed when it begins, so that what
 * arrives meanwhile does not change it.  A row belongs to it if it is of the
 * range and was in Kafka before everything up to then had been stored.
 */
struct export_range {
	int64_t from_ms, to_ms;	  /* half-open */
	int64_t append_before_ms; /* when Kafka took it */
	uint64_t link_id;	  /* 0: of any link */
};

/* A row, by the order that exports have: UTC days, in a day links, and of a
 * link time. */
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

/* What a client accepts: weights in thousandths, 0 refused, EXPORT_UNSAID. */
#define EXPORT_UNSAID (-1)
struct export_accept {
	int16_t types[EXPORT_FORMAT_COUNT];
	int16_t ranges[EXPORT_FORMAT_COUNT]; /* "text" with any subtype */
	int16_t any;
};

/* Of a request without Accept. */
extern const struct export_accept export_accept_none;

/* Takes the elements of one Accept line; what is malformed or of another type
 * counts as not there.  The last one wins. */
void export_accept_add(struct export_accept *accept, struct http_slice line);

/* The format that the client likes better (RFC 9110, 12.5.1).  At equal weight
 * CSV if it is named, else NDJSON, which is also for who accepts neither. */
enum export_format export_accept_choose(const struct export_accept *accept);

struct export_question {
	char code[CODE_MAX + 1]; /* "": not asked by code */
	uint64_t link_id;	 /* 0: not asked by link_id */
	bool has_owner;
	char owner[KEY_LISTED_NAME_MAX + 1];
	int64_t from_ms, to_ms; /* -1: not said */
	uint64_t limit;		/* 0: all */
	enum export_format format;
	bool has_cursor;
	struct export_cursor cursor;
};

/*
 * Reads a query string; `likes` is the format where the query says none.  A
 * parameter that is unknown, comes twice or makes no sense, and a cursor that
 * is damaged or of other parameters, is ERROR_INPUT; the text names it.
 */
int export_question_parse(struct export_question *q, struct http_slice query,
			  enum export_format likes, struct error *err);

/*
 * A cursor names a row and what an export has, and carries a digest of both and
 * of the question.  It is no secret and gives no right: what is seen is decided
 * anew by each request's key.
 */
void export_cursor_put(struct buf *out, const struct export_question *q,
		       const struct export_cursor *cursor);
int export_cursor_parse(const struct export_question *q, const char *text,
			struct export_cursor *ret, struct error *err);

#endif
