/*
 * export_reader.h - what ClickHouse is asked for an export, an answer at a
 * time: the first of its two steps.  The second, export_writer.h, makes lines
 * of one answer while this one waits for the next.
 */
#ifndef AGGREGATOR_EXPORT_EXPORT_READER_H
#define AGGREGATOR_EXPORT_EXPORT_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/access.h"
#include "aggregator/api/call.h"
#include "aggregator/export/export_question.h"
#include "aggregator/export/export_scan.h"
#include "common/buf.h"
#include "common/error.h"

enum export_end {
	EXPORT_GOES_ON,
	EXPORT_COMPLETE,
	EXPORT_ENDED_EARLY, /* at its limit, or as the program stops */
};

/* Rows that were read together.  Zeroed, its owner frees `rows`. */
struct export_answer {
	struct buf rows; /* as ClickHouse wrote export_select of them */
	size_t count;
	uint64_t total; /* rows of the export up to here */
	enum export_end end;
	struct export_place place; /* where it ended early */
};

/* Zeroed at first.  Its owner fills in what is above the line; `question` and
 * scan.range stay as they are after the first answer, and may be read while the
 * next one is asked for. */
struct export_reader {
	struct access access;
	char *query;		  /* of the URL; owned */
	enum export_format likes; /* of the client */
	bool head;	  /* HEAD: only whether there would be an answer */
	atomic_bool stop; /* set by anybody: end where it is */
	/* ---- */
	bool prepared;
	struct export_question question;
	struct export_scan scan;
	uint64_t total;
};

/* Reads on, by questions for `max` rows each.  `call` is one without an access.
 * On a worker; may take long, and is ended with what it asks. */
int export_reader_next(struct export_reader *r, struct call *call, size_t max,
		       struct export_answer *answer, struct error *err);
void export_reader_release(struct export_reader *r);

#endif
