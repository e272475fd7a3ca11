/* json_file.h - loads a plain file of JSON, such as an installed list. */
#ifndef COMMON_JSON_FILE_H
#define COMMON_JSON_FILE_H

#include <jansson.h>

#include "common/error.h"

/* The caller frees the result with json_decref.  NULL: ERROR_CONFIG,
 * "path:line:column: why" or "path: why". */
json_t *json_file_load(const char *path, struct error *err);

#endif
