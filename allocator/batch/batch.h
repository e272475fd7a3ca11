/*
 * batch.h - POST /v1/links/batch: creates a link per line and answers each
 * line.
 *
 * The body is NDJSON; each line is the body of a single create.  The answer is
 * NDJSON in the same order: for each line the object that answers a single
 * create, or a problem object (RFC 9457) with `line`, counted from 1.  A bad
 * line does not fail the others; an empty line is a bad line.
 *
 * Lines are created while others still arrive, and are answered when done.  The
 * memory of a batch is bounded: in_flight_max lines that are being created or
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
 * dropped: every link that was answered 201 exists.
 */
#ifndef ALLOCATOR_BATCH_BATCH_H
#define ALLOCATOR_BATCH_BATCH_H

#include "allocator/allocator_config.h"
#include "allocator/create/creation.h"
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
	struct metric *created, *present, *invalid, *denied, *failed;
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

/* Handles a streamed request whose caller may create links.  Answers 415 if the
 * body is not NDJSON, and 429 or 503 if there are too many batches. */
void batch_handle(struct batches *all, struct http_request *req,
		  const struct api_key_info *caller);

#endif
