/* parts.h - what the files of a batch share.  For allocator/batch/ only. */
#ifndef ALLOCATOR_BATCH_PARTS_H
#define ALLOCATOR_BATCH_PARTS_H

#include "allocator/batch/batch.h"
#include "allocator/batch/lines.h"
#include "allocator/batch/ring.h"

struct batch {
	struct batch_parts *parts;
	struct batch *prev, *next; /* of those under way */
	struct http_request *req;
	struct http_stream_handler handler;
	struct api_key_info caller;
	struct audit_source source;
	struct http_slice key; /* Idempotency-Key of all lines; or NULL */
	struct lines lines;
	struct ring *ring;
	struct buf out;		  /* answers on their way to the client */
	struct loop_timer *timer; /* for the caller's rate */
	struct loop_timer *end;	  /* of the time that it may take */
	struct http_slice last;	  /* a last line without LF, in `lines` */
	bool paid;		  /* for the next line */
	int64_t waiting_since;	  /* for its rate (ns); 0: it is not */
	int64_t waited;		  /* for it before that (ns) */
	bool paused;		  /* the client has more than was taken */
	bool body_done;
	bool taken;   /* and all its lines have been taken up */
	bool late;    /* it has waited for too long: no more are taken up */
	bool overdue; /* the time that it may take is over */
	bool gone;    /* nobody waits for answers any more */
	bool busy;    /* further up the stack: it must not end now */
};

/* batch.c: something has happened that may make room, or an end; the batch may
 * be gone when it returns. */
void batch_proceed(struct batch *b);

/* line.c */
/* Has the line that was told last created, and answers it when it is. */
void batch_create_line(struct batch *b, struct http_slice text);
/* Answers the line with a problem. */
void batch_refuse_line(struct batch *b, uint64_t number, int status,
		       const char *detail);

#endif
