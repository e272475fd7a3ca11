/*
 * log_head.h - identifies a log by its first lines.
 *
 * A file's name does not identify a log: logs are rotated, copied and packed.
 * But the beginning of a log stays the same.  Each of its first lines has a
 * number, made of all lines so far.  Two logs are the same, one of them perhaps
 * longer by now, if their numbers are equal after the last line that both have.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_LOG_HEAD_H
#define COLLECTOR_TOOLS_IMPORT_LOG_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/import/log_source.h"
#include "common/error.h"

enum {
	LOG_HEAD_BYTES = 64 * 1024, /* bytes of a log that make its head */
	LOG_HEAD_NAME_MAX = 33,	    /* 32 hexadecimal digits */
};

struct log_head {
	uint64_t *numbers; /* one per line */
	size_t count;	   /* 0: no complete line, or a very long one */
	bool seen_all;	   /* the file is no longer than its head */
	/* The name of a new log, made of its whole head. */
	char name[LOG_HEAD_NAME_MAX];
};

/* Reads the head of a source from its beginning and rewinds it, so that the
 * lines read next belong to the same log: a log may be rotated at any time.
 * Start from zeros; a line without its newline does not count. */
int log_head_read(struct log_head *h, struct log_source *source,
		  struct error *err);
void log_head_release(struct log_head *h);

/* `numbers`: those of another head. */
bool log_head_fits(const struct log_head *h, const uint64_t *numbers,
		   size_t count);

#endif
