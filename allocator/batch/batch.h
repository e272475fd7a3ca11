/*
 * batch.h - a request with a task per line, each of which is answered: links to
 * create (allocator/api/create_batch.c), or edits of links (edit_batch.c).
 *
 * The body is NDJSON.  The answer is NDJSON in the same order: for each line an
 * object of the batch's kind, or a problem object (RFC 9457) with `line`,
 * counted from 1.  A bad line does not fail the others; an empty line is a bad
 * line.
 *
 * Lines are worked on while others still arrive, and are answered when done.
 * The memory of a batch is bounded: in_flight_max lines that are worked on or
 * whose answers wait for an earlier one; bytes_max of such lines; and about
 * bytes_max of answers that the client has not read.  Beyond these limits
 * nothing is read from the client.  So a client with many lines must read while
 * it writes: if it sends all lines before it reads the first answer, it waits
 * for ever.
 *
 * A line is refused if its key, or the key's role, has been removed in the
 * meantime.
 *
 * A batch that has used up its key's rate waits, for wait_max in all.  Then the
 * next line is answered 429 and the answer breaks off.  Waiting batches must
 * not keep others out, so an account may have only a share of all batches, and
 * a client that closes its side of the connection while its batch waits counts
 * as gone.  A batch lasts for time_max at most: then the lines in progress are
 * answered, the next line is answered 408 and the answer breaks off.
 *
 * If the client goes away, lines in progress are finished and the rest is
 * dropped: every link that was answered 201 exists, and every edit that was
 * answered as made is.
 */
#ifndef ALLOCATOR_BATCH_BATCH_H
#define ALLOCATOR_BATCH_BATCH_H

#include "allocator/allocator_config.h"
#include "allocator/change/link_changer.h"
#include "allocator/create/creation.h"
#include "allocator/link/link_defaults.h"
#include "common/buf.h"
#include "common/http/stream.h"
#include "common/keys/api_keyring.h"

/* Largest line in bytes: a link with a URL of 8 KiB for each device, and
 * more. */
#define BATCH_LINE_MAX 65536

/* Shared by all threads. */
struct batch_metrics {
	/* batches, by outcome */
	struct metric *complete, *aborted, *refused, *late;
	struct metric *running;	  /* gauge */
	struct metric *in_flight; /* gauge: lines */
	/* lines, by outcome */
	struct metric *created, *present, *changed, *unchanged, *invalid,
		*denied, *failed;
};
/* The limits of the settings are registered as metrics, too. */
void batch_metrics_register(struct batch_metrics *bm,
			    const struct allocator_settings *settings,
			    struct metrics *m);

/* The batches of one thread and the data that they work with, which outlives
 * them. */
struct batches {
	struct loop *loop;
	struct api_keyring *keys;
	const struct creation_context *creation;
	struct link_changer *changer;
	const struct link_defaults *defaults;
	const struct batch_metrics *metrics;
	size_t in_flight_max; /* lines per batch */
	size_t bytes_max;     /* limit for lines, and for unread answers */
	size_t batches_max;   /* at a time; more are answered 503 */
	size_t account_max;   /* per account; more are answered 429 */
	int64_t wait_max;     /* ms that a batch waits for its key's rate */
	int64_t time_max;     /* ms of a whole batch */
	/* The running batches; the caller initializes them with 0 and NULL. */
	size_t running;
	struct running_batch *first;
};

struct running_batch;

/* A kind decides what is done with the lines of a batch. */
struct batch_kind {
	const char *lines; /* what they are, in refusals: "links" */
	/* The answer to a line whose key may not create any more. */
	const char *denied;
	/*
	 * Takes a line, whose text is read during the call only.  It calls
	 * batch_refuse_line, or it calls batch_begin_line and, now or later,
	 * batch_end_line.
	 */
	void (*take)(struct running_batch *b, struct http_slice text);
	/* Counts a line that is refused with that status; may be NULL. */
	void (*count_refused)(struct running_batch *b, int status);
	/* Frees the batch's data; may be NULL. */
	void (*free_data)(void *data);
	/* Both are NULL unless batches are fed: there is room for the lines
	 * that batch_feed did not take; and appends what ends the answer. */
	void (*more)(struct running_batch *b);
	void (*finish)(const struct running_batch *b, struct buf *out);
};

/*
 * Handles a streamed request whose caller may create and edit links.  Answers
 * 415 if the body is not NDJSON, and 429 or 503 if there are too many batches.
 * `data` is the kind's, and the batch's from here on; it is freed by the kind's
 * free_data, also if the request is refused.
 */
void batch_handle(struct batches *all, const struct batch_kind *kind,
		  void *data, struct http_request *req,
		  const struct api_key_info *caller);

/*
 * Begins a batch whose lines are not the request's body, which has been taken
 * already: batch_feed has them.  Returns NULL if it is refused; the request has
 * been answered then.  The owner of the request's stream passes its events on.
 */
struct running_batch *batch_open(struct batches *all,
				 const struct batch_kind *kind, void *data,
				 struct http_request *req,
				 const struct api_key_info *caller);
/* Takes whole lines, as many as there is room and rate for.  Returns how many
 * bytes were taken; the rest is given again when the kind's `more` is called.
 * The batch may be freed when this returns, as with all the following. */
size_t batch_feed(struct running_batch *b, struct http_slice data);
/* There are no more lines. */
void batch_feed_end(struct running_batch *b);
/* There are no more lines to be had: the answer ends with this problem, and
 * breaks off. */
void batch_feed_fail(struct running_batch *b, int status, const char *detail);
/* on_abort and on_drained of the request's stream. */
void batch_client_gone(struct running_batch *b);
void batch_client_reads(struct running_batch *b);

/* --- for kinds ------------------------------------------------------------ */

const struct batches *batch_all(const struct running_batch *b);
const struct api_key_info *batch_caller(const struct running_batch *b);
const struct audit_source *batch_source(const struct running_batch *b);
void *batch_data(const struct running_batch *b);
/* Returns the number of the line that was taken last, from 1. */
uint64_t batch_line_number(const struct running_batch *b);

/* Answers the line that was taken last with a problem, at once. */
void batch_refuse_line(struct running_batch *b, int status, const char *detail);
/* The same with members of its own: JSON text that begins with a comma, or "".
 */
void batch_refuse_fields(struct running_batch *b, int status,
			 const char *detail, const char *members);

/* Reserves the place of the answer to the line that was taken last, which has
 * that many bytes. */
uint64_t batch_begin_line(struct running_batch *b, size_t bytes);

/* Returns the buffer that the answer with this place is appended to, with its
 * newline.  Call batch_end_line next. */
struct buf *batch_answer(struct running_batch *b, uint64_t place);

/* The answer is complete.  `outcome`: how the line is counted.  The batch may
 * be freed when this returns, unless another line of it is under way. */
void batch_end_line(struct running_batch *b, uint64_t place,
		    struct metric *outcome);

/* Appends the problem object of a line.  `type`: NULL stands for that of the
 * status. */
void batch_put_problem(struct buf *out, uint64_t line, int status,
		       const char *type, const char *detail);

/* Returns how a line that was refused with that status is counted. */
struct metric *batch_outcome_of(const struct batches *all, int status);

#endif
