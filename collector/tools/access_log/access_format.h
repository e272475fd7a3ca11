/*
 * access_format.h - reads lines of access logs by the name of their format
 * (access_formats.inc), by the format itself, or by detection.
 *
 * Belongs to one thread.
 */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_FORMAT_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_FORMAT_H

#include <stdbool.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"
#include "common/error.h"

struct access_format;

/*
 * `text`: a name, "auto", or a format of Apache (%h ...) or nginx ($remote_addr
 * ...).  `json_keys` assigns keys to fields where the usual names are not used,
 * "time=when,address=peer.ip"; NULL: none.  `rules` are copied; the data they
 * point to must outlive the format.  ERROR_USAGE when `json_keys` names no
 * field, or `text` is no format.
 */
struct access_format *access_format_new(const char *text, const char *json_keys,
					const struct access_rules *rules,
					struct error *err);
void access_format_free(struct access_format *f); /* NULL accepted */

/* Returns whether a line is about the log ("#Fields: ..."), and no visit.  Its
 * contents are used: pass such a line here also if it was imported before. */
bool access_format_remark(struct access_format *f, const char *line,
			  size_t len);

/* Reads a line; texts live until the next call, or as long as the line.  A line
 * that cannot be read is ERROR_INPUT with the reason. */
int access_format_read(struct access_format *f, const char *line, size_t len,
		       struct access_visit *ret_visit, struct error *err);

/* Returns the name of the format, for people: the one that `auto` has found, or
 * "nothing new". */
const char *access_format_name(const struct access_format *f);

/* Appends the unknown names, of keys in JSON or of a format that the user gave,
 * separated by commas; appends nothing if there are none. */
void access_format_put_unknown(const struct access_format *f, struct buf *to);

/* A new file may have another format: `auto` detects it again. */
void access_format_restart(struct access_format *f);

#endif
