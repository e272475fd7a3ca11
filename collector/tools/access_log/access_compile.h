/* access_compile.h - a format in pieces.  Internal to access_pattern.c and
 * access_compile.c. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_COMPILE_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"

enum {
	ACCESS_PIECES_MAX = 128
};

/* A text that stands there, or a field; they take turns. */
struct access_piece {
	size_t literal; /* where in access_pattern.literals */
	size_t len;	/* 0: a field */
	enum access_field field;
	bool quoted; /* escapes are undone, and hide where it ends */
	bool blanks; /* may have some */
};

struct access_pattern {
	struct access_piece pieces[ACCESS_PIECES_MAX];
	size_t count;
	struct buf literals;
	char *time_format; /* for strptime; NULL: by itself */
	bool open_end;
};

#endif
