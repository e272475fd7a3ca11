/*
 * access_pattern.h - lines of text that a format describes: Apache's LogFormat
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
 * What has a time in it, or addresses with commas, may have blanks where the
 * format has none around it: as much is taken as is a time, or a list.
 *
 * "%h %l %u %t \"%r\" %>s %b" or "$remote_addr [$time_local] ...": what has a
 * percent sign is taken as Apache's.  `open_end`: lines may go on after a blank
 * where the format ends.  ${any} may have blanks, too.  ERROR_USAGE when it is
 * no format, has no time or no request, or does not say where a field ends.
 */
struct access_pattern *access_pattern_new(const char *format, bool open_end,
					  struct error *err);
void access_pattern_free(struct access_pattern *p); /* NULL accepted */

/* For access_time_read, or NULL. */
const char *access_pattern_time(const struct access_pattern *p);

/* The names in the format that are of no use here, with blanks between them;
 * the pattern's. */
const char *access_pattern_passed(struct access_pattern *p);

/*
 * Takes a line apart.  Texts point into it, or into `scratch` where escapes
 * (\" \\ \xHH \t ...) had to be undone; its content is lost.  ERROR_INPUT says
 * in which column it is not as the format has it.
 */
int access_pattern_read(const struct access_pattern *p, const char *line,
			size_t len, struct buf *scratch,
			struct access_fields *ret_fields, struct error *err);

#endif
