/*
 * access_json.h - reads lines of a log that are JSON objects.
 *
 * Nested objects are searched: "remote_ip" in "request" is the key
 * request.remote_ip.  In a list the first text counts; in a list of addresses
 * all count.
 */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_JSON_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_JSON_H

#include <stddef.h>

#include "collector/tools/access_log/access_unknown.h"
#include "collector/tools/access_log/access_visit.h"
#include "common/error.h"

struct access_json;

/* `keys` assigns keys to fields where the usual names are not used,
 * "time=when,address=peer.ip"; NULL: none.  ERROR_USAGE when it names no
 * field. */
struct access_json *access_json_new(const char *keys, struct error *err);
void access_json_free(struct access_json *j); /* NULL accepted */

/* Texts live until the next call.  Bytes that are not UTF-8 become question
 * marks, because JSON does not allow them.  Keys without a field are noted in
 * `unknown`. */
int access_json_read(struct access_json *j, const char *line, size_t len,
		     struct access_unknown *unknown,
		     struct access_fields *ret_fields, struct error *err);

#endif
