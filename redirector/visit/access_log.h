/*
 * access_log.h - which answers are written to the access log, and how they get
 * there.
 *
 * A server gathers the lines of a turn in its own buffer and hands them to the
 * file's thread (line_file.h) at the end of the turn, or earlier when there are
 * many.  So no visitor waits for a disk; when the disk is too slow, lines are
 * lost and counted.
 *
 * One of every `access_log_sample` answers of a server is written, drawn at
 * random: the number of lines is exact, and visits that come in a rhythm are
 * not left out every time.
 */
#ifndef REDIRECTOR_VISIT_ACCESS_LOG_H
#define REDIRECTOR_VISIT_ACCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/redirector_config.h"
#include "redirector/visit/request_info.h"

struct access_log;

/* Returns ERROR_CONFIG when the file cannot be opened.  `settings` names a
 * file, and must outlive the log. */
struct access_log *access_log_new(const struct redirector_settings *settings,
				  struct metrics *metrics, struct log *log,
				  struct error *err);
/* Called after the writers are released: waits for queued lines, for timeout_ms
 * at most.  NULL accepted. */
void access_log_free(struct access_log *a, int64_t timeout_ms);

/* Called when the file has been moved away.  NULL accepted. */
void access_log_reopen(struct access_log *a);

/* Belongs to one thread. */
struct access_writer {
	struct access_log *log; /* NULL: nothing is written */
	struct buf lines;
	uint64_t random;
	uint64_t countdown; /* answers left in this round of the sample */
	uint64_t chosen;    /* value of `countdown` for the line to write */
};

/* `log` may be NULL. */
int access_writer_init(struct access_writer *w, struct access_log *log,
		       struct error *err);
void access_writer_release(struct access_writer *w);

struct access_answer {
	int64_t time_ms; /* real time, the same as in its event */
	int status;
	size_t body_bytes;
};

/* Called before the request is answered. */
void access_writer_note(struct access_writer *w, const struct http_request *req,
			const struct request_info_rules *rules,
			const struct access_answer *answer);

/* Called at the end of a turn. */
void access_writer_flush(struct access_writer *w);

#endif
