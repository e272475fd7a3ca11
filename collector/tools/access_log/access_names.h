/* access_names.h - what servers call the fields of a log. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_NAMES_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_NAMES_H

#include <stddef.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/buf.h"

/* A directive of Apache's LogFormat: the letter, and what stood in braces
 * before it (`len` 0: nothing).  ACCESS_PASSED for what is of no use here. */
enum access_field access_field_of_directive(char letter, const char *argument,
					    size_t len);

/* A variable of nginx's log_format, without its dollar sign. */
enum access_field access_field_of_variable(const char *name, size_t len);

/* A column of the W3C's extended format: "c-ip", "cs(User-Agent)".  Of two
 * of one field that with the lower *ret_rank counts. */
enum access_field access_field_of_column(const char *name, size_t len,
					 unsigned *ret_rank);

/*
 * A key of a log in JSON, with dots between those of objects in each other:
 * nginx's names, those of other servers, and those that are widespread.  Of
 * two keys of one field that with the lower *ret_rank counts.
 */
enum access_field access_field_of_key(const char *name, size_t len,
				      unsigned *ret_rank);

/* What --json-keys calls a field ("time"); ACCESS_PASSED: there is no such. */
enum access_field access_field_by_name(const char *name, size_t len);

/* Appends all of these names, with commas between them. */
void access_field_put_names(struct buf *to);

#endif
