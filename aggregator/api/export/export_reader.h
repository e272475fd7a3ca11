/*
 * export_reader.h - the queries of an export to ClickHouse, an answer at a
 * time: the first of its two steps.  The second, export_writer.h, makes lines
 * of one answer while this one waits for the next.
 */
#ifndef AGGREGATOR_API_EXPORT_EXPORT_READER_H
#define AGGREGATOR_API_EXPORT_EXPORT_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/access.h"
#include "aggregator/api/call.h"
#include "aggregator/api/export/export_question.h"
#include "aggregator/api/export/export_scan.h"
#include "common/buf.h"
#include "common/error.h"

enum export_end {
	EXPORT_GOES_ON,
	EXPORT_COMPLETE,
	EXPORT_ENDED_EARLY, /* at the limit, or when the program stops */
};

/* Rows that were read together.  Zeroed at first; its owner frees `rows`. */
struct export_answer {
	struct buf rows; /* ClickHouse's answer to export_page.sql */
	size_t count;
	uint64_t total; /* rows of the export up to here */
	enum export_end end;
	struct export_place place; /* the end, if EXPORT_ENDED_EARLY */
};

/* Zeroed at first.  Its owner fills in the members above the line.  `question`
 * and scan.range do not change after the first answer, and may be read while
 * the next one is queried. */
struct export_reader {
	struct access access;
	char *query;		  /* the URL's query string; owned */
	enum export_format likes; /* preferred by the client */
	bool head;		  /* HEAD: checks the request, reads no rows */
	atomic_bool stop;	  /* set by any thread: ends it early */
	/* ---- */
	bool prepared;
	struct export_question question;
	struct export_scan scan;
	uint64_t total;
};

/* Reads on, with queries for `max` rows each.  `call` has no access yet.  It
 * runs on a worker and may take long; ending its query ends it. */
int export_reader_next(struct export_reader *r, struct call *call, size_t max,
		       struct export_answer *answer, struct error *err);
void export_reader_release(struct export_reader *r);

#endif
