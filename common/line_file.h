/*
 * line_file.h - a file to which a thread of its own appends lines, so that no
 * caller waits for a disk.
 *
 * Lines are handed over in memory, and written a few times a millisecond at
 * most.  While the file cannot be written (a full disk, a pipe without a
 * reader) they wait, up to a bound; beyond it lines are lost, and counted.  A
 * process that is killed loses the lines of the last milliseconds, which were
 * not written yet.
 */
#ifndef COMMON_LINE_FILE_H
#define COMMON_LINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

struct line_file;

struct line_file_options {
	const char *path;    /* opened for appending, created with mode 0640 */
	const char *name;    /* for errors: "audit file"; kept, not copied */
	int64_t queue_bytes; /* limit for lines that wait */
	struct metric *written, *lost, *failures;
	/* Called after each attempt to write, on the file's thread: NULL, or
	 * why lines wait. */
	void (*on_state)(void *arg, const struct error *err);
	/* Appends a line that reports the number of lost lines, written before
	 * the next ones; NULL: only the counter has it. */
	void (*put_lost)(struct buf *out, uint64_t lines);
	void *arg;
};

/* Starts a thread.  A file that cannot be opened is ERROR_CONFIG, "path: why";
 * so is a pipe without a reader. */
struct line_file *line_file_new(const struct line_file_options *options,
				struct error *err);

/* Waits until the queue is written, timeout_ms at most and a second for a pipe
 * that is full, and frees it.  Returns how many lines were not written.  NULL
 * accepted: 0. */
uint64_t line_file_free(struct line_file *file, int64_t timeout_ms);

/* Opens the file again, soon: it has been moved away.  Callable from any
 * thread. */
void line_file_reopen(struct line_file *file);

/* Takes whole lines, which may have `failed`; the caller's buffer is unchanged.
 * Callable from any thread. */
void line_file_put(struct line_file *file, const struct buf *lines);

#endif
