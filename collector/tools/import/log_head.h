/*
 * log_head.h - by what a log is known again.
 *
 * A name tells nothing: logs are rotated, copied and packed.  What stays is how
 * a log begins.  Of each of its first lines there is a number, made of all
 * lines so far; two logs are the same, one of them perhaps longer by now, when
 * their numbers are equal after the last line that both have.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_LOG_HEAD_H
#define COLLECTOR_TOOLS_IMPORT_LOG_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/import/log_source.h"
#include "common/error.h"

enum {
	LOG_HEAD_BYTES = 64 * 1024, /* of a log that make its head */
	LOG_HEAD_NAME_MAX = 33,	    /* 32 hexadecimal digits */
};

struct log_head {
	uint64_t *numbers; /* one a line */
	size_t count;  /* 0: there is no whole line yet, or a very long one */
	bool seen_all; /* the file is no longer than its head */
	/* The name of a log that is met the first time, made of its whole head.
	 */
	char name[LOG_HEAD_NAME_MAX];
};

/* Reads the head of a source from its beginning, and goes back there, so that
 * the lines read next are those of this very log: a log may be rotated at any
 * time.  Start from zeros; a line without its newline does not count. */
int log_head_read(struct log_head *h, struct log_source *source,
		  struct error *err);
void log_head_release(struct log_head *h);

/* `numbers` are those of another head. */
bool log_head_fits(const struct log_head *h, const uint64_t *numbers,
		   size_t count);

#endif
