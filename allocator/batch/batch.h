/*
 * batch.h - POST /v1/links/batch: links by the line, answered by the line.
 *
 * The body is NDJSON, a line the body of a single create; so is the answer, in
 * the same order: per line the object that a single create answers, or a
 * problem object (RFC 9457) with `line`, counted from 1.  A bad line does not
 * fail the others; an empty line is a bad one.
 *
 * Lines are created while others still arrive and answered as they are done.
 * What a batch holds is bounded: in_flight_max lines that are being created, or
 * whose answers wait for one before them; bytes_max of such lines; and about
 * bytes_max of answers that the client has not taken.  Beyond, nothing is read
 * from the client, so that a client which sends all its lines before it reads
 * the first answer will wait for ever when they are many: it has to read while
 * it writes.
 *
 * A line is refused once its key, or the role, has been taken away.
 *
 * A batch that has used up its key's rate waits, for wait_max in all; then the
 * line that it waits for is answered 429 and the answer breaks off.  So that
 * those who wait do not keep others out, an account has a share of the batches
 * that there may be, and a client that has closed its side of the connection
 * while its batch waits is taken to have gone.  Nor does a batch last longer
 * than time_max: what was taken up by then is answered, the next line is
 * answered 408 and the answer breaks off.
 *
 * When the client goes away, lines that were taken up are finished and the rest
 * is dropped: what was answered 201 exists.
 */
#ifndef ALLOCATOR_BATCH_BATCH_H
#define ALLOCATOR_BATCH_BATCH_H

#include "allocator/allocator_config.h"
#include "allocator/create/creation.h"
#include "common/http/stream.h"
#include "common/keys/api_keyring.h"

/* Bytes of a line: a link with a URL of 8 KiB for each device, and more. */
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
/* The bounds that the settings give are metrics too. */
void batch_metrics_register(struct batch_metrics *bm,
			    const struct allocator_settings *settings,
			    struct metrics *m);

/* The batches of one thread, and what they work with; all of it outlives
 * them. */
struct batches {
	struct loop *loop;
	struct api_keyring *keys;
	const struct creation_context *creation;
	const struct link_defaults *defaults;
	const struct batch_metrics *metrics;
	size_t in_flight_max; /* lines of a batch */
	size_t bytes_max;     /* of lines in flight, and of answers waiting */
	size_t batches_max;   /* at a time; beyond: 503 */
	size_t account_max;   /* of an account; beyond: 429 */
	int64_t wait_max;     /* ms of a batch for its key's rate */
	int64_t time_max;     /* ms of a batch in all */
	/* Those under way; the caller starts with 0 and NULL. */
	size_t running;
	struct batch *first;
};

/* Takes a streamed request whose caller may create links.  Answers 415 to a
 * body that is not NDJSON, 429 or 503 when there are too many batches. */
void batch_handle(struct batches *all, struct http_request *req,
		  const struct api_key_info *caller);

#endif
