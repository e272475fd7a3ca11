/*
 * access_format.h - lines of access logs, read by the name of their format
 * (access_formats.inc), by the format itself, or by what they look like.
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
 * ...).  `json_keys`: which key is which field where the usual names are not
 * used, "time=when,address=peer.ip"; NULL: none.  `rules` are copied; what they
 * point to must live as long.  ERROR_USAGE when `json_keys` names no field, or
 * `text` is no format.
 */
struct access_format *access_format_new(const char *text, const char *json_keys,
					const struct access_rules *rules,
					struct error *err);
void access_format_free(struct access_format *f); /* NULL accepted */

/* Is it a line about the log ("#Fields: ..."), which is no visit?  What it says
 * is taken: such a line is to be shown here also when it was imported before.
 */
bool access_format_remark(struct access_format *f, const char *line,
			  size_t len);

/* What a line says; texts live until the next call, or as long as the line. A
 * line that cannot be read is ERROR_INPUT with the reason. */
int access_format_read(struct access_format *f, const char *line, size_t len,
		       struct access_visit *ret_visit, struct error *err);

/* The name of what is read, for people: that which `auto` has found, or
 * "nothing new". */
const char *access_format_name(const struct access_format *f);

/* Appends the names that were not understood, of keys in JSON or of a format
 * that was given, with commas between; nothing if there are none. */
void access_format_put_unknown(const struct access_format *f, struct buf *to);

/* A new file may have another format: `auto` looks again. */
void access_format_restart(struct access_format *f);

#endif
