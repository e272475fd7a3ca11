/* json_member.h - writes JSON members whose value may be absent: null. */
#ifndef COLLECTOR_TOOLS_EXPLAIN_JSON_MEMBER_H
#define COLLECTOR_TOOLS_EXPLAIN_JSON_MEMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/*
 * Each function appends `"key":value`, after a comma unless it is the first of
 * its object.  Empty texts become null; bytes that are not UTF-8 become
 * question marks.
 */
void member_text(struct buf *b, const char *key, const char *text, size_t len);
void member_word(struct buf *b, const char *key, const char *text);
void member_uint(struct buf *b, const char *key, uint64_t number);
void member_null(struct buf *b, const char *key);
/* Writes the fewest digits that are read back as the same number. */
void member_float(struct buf *b, const char *key, double number);
/* Appends `"key":{`, which the caller ends by a brace. */
void member_open(struct buf *b, const char *key);

#endif
