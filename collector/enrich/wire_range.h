/*
 * wire_range.h - numbers of an event that are too great for where they go.
 *
 * A varint has up to 64 bits, whatever the type of its field; protobuf-c takes
 * the lower ones.  And a column may be narrower than the field.  What does not
 * fit is no event that a program of ours sent: the event is refused by the
 * field's name, and never cut.
 */
#ifndef COLLECTOR_ENRICH_WIRE_RANGE_H
#define COLLECTOR_ENRICH_WIRE_RANGE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#include "common/error.h"

/* A column that a field of the same name goes to, of the message or of one in
 * it. */
struct wire_column {
	const char *name;
	const char *type; /* ClickHouse's */
};

/*
 * Of bytes that protobuf-c took for a message.  ERROR_INPUT, which names the
 * field and its value, when a number of a field of 32 bits or of an enumeration
 * has more, or a column of 8, 16 or 32 bits cannot hold it.  An enumerator that
 * nobody knows fits: a later version may send it.  `columns` ends with a name
 * of NULL; `what` is the event: "a click".
 */
int wire_check_ranges(const ProtobufCMessageDescriptor *message,
		      const struct wire_column *columns, const void *data,
		      size_t len, const char *what, struct error *err);

#endif
