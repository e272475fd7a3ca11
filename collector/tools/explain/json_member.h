/* json_member.h - JSON members whose value may be absent: null. */
#ifndef COLLECTOR_TOOLS_EXPLAIN_JSON_MEMBER_H
#define COLLECTOR_TOOLS_EXPLAIN_JSON_MEMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/*
 * Each appends `"key":value`, after a comma unless it is the first of its
 * object.  Empty texts are null; what is not UTF-8 becomes question marks.
 */
void member_text(struct buf *b, const char *key, const char *text, size_t len);
void member_word(struct buf *b, const char *key, const char *text);
void member_uint(struct buf *b, const char *key, uint64_t number);
void member_null(struct buf *b, const char *key);
/* As few digits as are read back as the same number. */
void member_float(struct buf *b, const char *key, double number);
/* `"key":{`, to be ended by a brace. */
void member_open(struct buf *b, const char *key);

#endif
