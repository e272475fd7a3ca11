/* value.h - converts one setting's value: text to C, C to text.  For config.c,
 * and for numbers with units from elsewhere. */
#ifndef COMMON_CONFIG_VALUE_H
#define COMMON_CONFIG_VALUE_H

#include "common/buf.h"
#include "common/clock.h"
#include "common/config/setting.h"
#include "common/error.h"

/*
 * Stores a scalar setting from its text into the section's struct at `base`.
 * err has what was expected, without file or key.  Not for STRINGS and LIST.
 */
int value_parse(const struct setting *s, const char *text, void *base,
		struct error *err);

/* Appends one string to a STRINGS setting. */
int value_append_string(const struct setting *s, const char *text, void *base,
			struct error *err);

/* Parses a comma-separated fallback of a STRINGS setting. */
int value_parse_strings(const struct setting *s, const char *text, void *base,
			struct error *err);

/* Appends the value in YAML, on one line; secrets masked.  Not for LIST. */
void value_print(const struct setting *s, const void *base, struct buf *out);

/* Formats a number with the unit of its type.  Returns `text`. */
const char *value_format_number(const struct setting *s, int64_t value,
				char text[DURATION_TEXT_MAX]);

/* Appends a text value as YAML: "30s", "16MiB", quoted strings. */
void value_print_text(const char *text, struct buf *out);

/* Frees and zeroes a scalar or STRINGS value. */
void value_release(const struct setting *s, void *base);

/* Appends a description such as "a duration, 1s to 1h, default 30s". */
void value_describe(const struct setting *s, struct buf *out);

#endif
