/*
 * access_format.h - lines of access logs, read by the name of their format or
 * by the format itself.
 *
 *	combined	Apache's and nginx's usual one
 *	common		without referrer and user agent
 *	vhost_combined	with host and port in front
 *	json		an object a line
 *	auto		the one of these that the first line is
 *	other text	a format of Apache (%h ...) or nginx ($remote_addr ...)
 *
 * Belongs to one thread.
 */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_FORMAT_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_FORMAT_H

#include "collector/tools/access_log/access_visit.h"
#include "common/error.h"

struct access_format;

/* `json_keys`: which key is which field where the usual names are not used,
 * "time=when,address=peer.ip"; NULL: none.  ERROR_USAGE when it names no field,
 * or `text` is no format. */
struct access_format *access_format_new(const char *text, const char *json_keys,
					struct error *err);
void access_format_free(struct access_format *f); /* NULL accepted */

/* What a line says; texts live until the next call, or as long as the line. A
 * line that cannot be read is ERROR_INPUT with the reason. */
int access_format_read(struct access_format *f, const char *line, size_t len,
		       struct access_visit *ret_visit, struct error *err);

/* The name of what is read, for people: that which `auto` has found, or
 * "nothing new". */
const char *access_format_name(const struct access_format *f);

/* A new file may have another format: `auto` looks again. */
void access_format_restart(struct access_format *f);

#endif
