/*
 * answer.h - what is known of a visit, as one line of JSON.
 *
 * What it says is found out by the code that makes rows of clicks, so it is
 * what the tables would say.  Belongs to one thread.
 */
#ifndef COLLECTOR_TOOLS_EXPLAIN_ANSWER_H
#define COLLECTOR_TOOLS_EXPLAIN_ANSWER_H

#include "collector/collector_config.h"
#include "collector/tools/explain/question.h"
#include "common/buf.h"
#include "common/error.h"

struct answerer;

/* Loads the collector's files.  `why`: answers say which rule decided what.
 * `settings` must outlive it. */
struct answerer *answerer_new(const struct collector_settings *settings,
			      bool why, struct error *err);
void answerer_free(struct answerer *a); /* NULL accepted */

/* Appends the answer, without a newline.  Absent values are null. */
int answer_append(struct answerer *a, struct visit_question *q, struct buf *out,
		  struct error *err);

/* The answer to what could not be read. */
void answer_append_error(struct buf *out, const struct error *reason);

#endif
