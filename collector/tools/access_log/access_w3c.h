/*
 * access_w3c.h - logs in the W3C's extended format, as IIS and CloudFront
 * write it: a line "#Fields: date time c-ip ..." says what is in those behind
 * it.
 */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_W3C_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_W3C_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/tools/access_log/access_unknown.h"
#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"
#include "common/error.h"

enum {
	W3C_COLUMNS_MAX = 128
};

/* Start from zeros, end with access_w3c_release. */
struct access_w3c {
	enum access_field columns[W3C_COLUMNS_MAX];
	unsigned ranks[W3C_COLUMNS_MAX];
	size_t count;	    /* 0: there was no such line yet */
	struct buf scratch; /* agents whose escapes were undone */
};

void access_w3c_release(struct access_w3c *w);

/* Is it a line about the log, rather than of it? */
bool access_w3c_is_remark(const char *line, size_t len);

/* Takes what a remark says of columns, if it does; their names that are no
 * field's are noted in `unknown`. */
void access_w3c_remark(struct access_w3c *w, const char *line, size_t len,
		       struct access_unknown *unknown);

/* Columns end at tabs, if there is one, or else at blanks.  Texts live until
 * the next call, or as long as the line. */
int access_w3c_read(struct access_w3c *w, const char *line, size_t len,
		    struct access_fields *ret_fields, struct error *err);

#endif
