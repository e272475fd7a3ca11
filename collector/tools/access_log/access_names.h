/* access_names.h - the servers' names for the fields of a log. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_NAMES_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_NAMES_H

#include <stddef.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"

/* Returns the field of a directive of Apache's LogFormat: the letter, and the
 * text in braces before it (`len` 0: none).  ACCESS_PASSED: it is not used
 * here. */
enum access_field access_field_of_directive(char letter, const char *argument,
					    size_t len);

/* Returns the field of a variable of nginx's log_format, without its dollar
 * sign. */
enum access_field access_field_of_variable(const char *name, size_t len);

/* Returns the field of a column of the W3C's extended format: "c-ip",
 * "cs(User-Agent)".  If two have the same field, the one with the lower
 * *ret_rank counts. */
enum access_field access_field_of_column(const char *name, size_t len,
					 unsigned *ret_rank);

/*
 * Returns the field of a key of a log in JSON, with dots between the keys of
 * nested objects: nginx's names, those of other servers, and widespread ones.
 * If two keys have the same field, the one with the lower *ret_rank counts.
 */
enum access_field access_field_of_key(const char *name, size_t len,
				      unsigned *ret_rank);

/* Returns the field by its name in --json-keys ("time"); ACCESS_PASSED:
 * unknown. */
enum access_field access_field_by_name(const char *name, size_t len);

/* Appends all of these names, separated by commas. */
void access_field_put_names(struct buf *to);

#endif
