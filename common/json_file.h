/* json_file.h - a plain file of JSON, such as a list that is installed. */
#ifndef COMMON_JSON_FILE_H
#define COMMON_JSON_FILE_H

#include <jansson.h>

#include "common/error.h"

/* The caller's to json_decref.  NULL: ERROR_CONFIG, "path:line:column: why" or
 * "path: why". */
json_t *json_file_load(const char *path, struct error *err);

#endif
