/*
 * json_text.h - writes JSON directly into a buffer, for answers that are made
 * tens of thousands of times a second.  Jansson does the reading.
 */
#ifndef COMMON_JSON_TEXT_H
#define COMMON_JSON_TEXT_H

#include <stddef.h>

#include "common/buf.h"

/* Appends a quoted JSON string.  `text` is UTF-8 and is kept unchanged except
 * quotes, backslashes and control characters, which are escaped (RFC 8259). */
void json_put_string(struct buf *b, const char *text, size_t len);

/* The same for text of unknown origin: a byte that is not part of well-formed
 * UTF-8 (RFC 3629) becomes a question mark. */
void json_put_lossy(struct buf *b, const char *text, size_t len);

#endif
