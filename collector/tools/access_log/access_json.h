/* access_json.h - logs with a JSON object a line, as nginx writes them with
 * escape=json. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_JSON_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_JSON_H

#include "collector/tools/access_log/access_visit.h"
#include "common/error.h"

struct access_json;

/*
 * `keys`: which key is which field where the usual names are not used,
 * "time=when,address=peer.ip"; NULL: none.  ERROR_USAGE when it names no
 * field.
 */
struct access_json *access_json_new(const char *keys, struct error *err);
void access_json_free(struct access_json *j); /* NULL accepted */

/* Texts live until the next call.  What is not UTF-8 in a line becomes question
 * marks, because it is none in JSON. */
int access_json_read(struct access_json *j, const char *line, size_t len,
		     struct access_fields *ret_fields, struct error *err);

#endif
