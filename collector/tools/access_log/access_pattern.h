/*
 * access_pattern.h - reads lines of text in a given format: Apache's LogFormat
 * or nginx's log_format.
 */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_PATTERN_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_PATTERN_H

#include <stdbool.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"
#include "common/error.h"

struct access_pattern;

/*
 * A field with a time, or with addresses and commas, may have blanks even if
 * the format has none around it: as much is read as is a time, or a list.
 *
 * The format is "%h %l %u %t \"%r\" %>s %b" or "$remote_addr [$time_local]
 * ...": a percent sign shows that it is Apache's.  `open_end`: lines may go on
 * after a blank where the format ends.  ${any} may have blanks, too.
 * ERROR_USAGE when it is no format, has no time or no request, or does not
 * define where a field ends.
 */
struct access_pattern *access_pattern_new(const char *format, bool open_end,
					  struct error *err);
void access_pattern_free(struct access_pattern *p); /* NULL accepted */

/* Returns the pattern for access_time_read, or NULL. */
const char *access_pattern_time(const struct access_pattern *p);

/* Returns the names in the format that are not used here, separated by blanks;
 * the text belongs to the pattern. */
const char *access_pattern_passed(struct access_pattern *p);

/*
 * Splits a line into fields.  Texts point into it, or into `scratch` where
 * escapes (\" \\ \xHH \t ...) had to be undone; the old content of `scratch` is
 * lost.  ERROR_INPUT names the column that does not match the format.
 */
int access_pattern_read(const struct access_pattern *p, const char *line,
			size_t len, struct buf *scratch,
			struct access_fields *ret_fields, struct error *err);

#endif
