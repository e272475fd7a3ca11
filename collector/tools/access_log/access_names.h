/* access_names.h - what Apache and nginx call the fields of a log. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_NAMES_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_NAMES_H

#include <stddef.h>

#include "collector/tools/access_log/access_visit.h"

/* A directive of Apache's LogFormat: the letter, and what stood in braces
 * before it (`len` 0: nothing).  ACCESS_PASSED for what is of no use here. */
enum access_field access_field_of_directive(char letter, const char *argument,
					    size_t len);

/* A variable of nginx's log_format, without its dollar sign. */
enum access_field access_field_of_variable(const char *name, size_t len);

/* A key of a log in JSON: nginx's names, and others that are widespread. */
enum access_field access_field_of_key(const char *name, size_t len);

/* What --json-keys calls a field ("time"); ACCESS_PASSED: there is no such. */
enum access_field access_field_by_name(const char *name, size_t len);

#endif
