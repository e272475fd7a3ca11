/*
 * access_log.h - which answers are written to the access log, and how they get
 * there.
 *
 * A server gathers the lines of a turn in a buffer of its own and hands them to
 * the file's thread (line_file.h) at the turn's end, or when they are many.  So
 * no visitor waits for a disk; when that is too slow, lines are lost and
 * counted.
 *
 * Of each `access_log_sample` answers of a server one is written, drawn among
 * them: as many as are to be, and no rhythm of visits that is always left out.
 */
#ifndef REDIRECTOR_ACCESS_LOG_H
#define REDIRECTOR_ACCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "redirector/redirector_config.h"
#include "redirector/request_info.h"

struct access_log;

/* ERROR_CONFIG when the file cannot be opened.  `settings` names one, and
 * outlives it. */
struct access_log *access_log_new(const struct redirector_settings *settings,
				  struct metrics *metrics, struct log *log,
				  struct error *err);
/* After the writers: waits for what is queued, timeout_ms at most.  NULL
 * accepted. */
void access_log_free(struct access_log *a, int64_t timeout_ms);

/* The file has been moved away.  NULL accepted. */
void access_log_reopen(struct access_log *a);

/* Of one thread. */
struct access_writer {
	struct access_log *log; /* NULL: nothing is written */
	struct buf lines;
	uint64_t random;
	uint64_t countdown; /* to the end of this round of answers */
	uint64_t chosen; /* where `countdown` is at the one that is written */
};

/* `log` may be NULL. */
int access_writer_init(struct access_writer *w, struct access_log *log,
		       struct error *err);
void access_writer_release(struct access_writer *w);

struct access_answer {
	int64_t time_ms; /* real time, as in its event */
	int status;
	size_t body_bytes;
};

/* Before the request is answered. */
void access_writer_note(struct access_writer *w, const struct http_request *req,
			const struct request_info_rules *rules,
			const struct access_answer *answer);

/* At the end of a turn. */
void access_writer_flush(struct access_writer *w);

#endif
