/*
 * wire_range.h - detects numbers of an event that are too great for their field
 * or column.
 *
 * A varint has up to 64 bits, whatever the type of its field; protobuf-c keeps
 * the lower ones.  And a column may be narrower than the field.  No program of
 * ours sends a number that does not fit: the event is rejected with the field's
 * name, and the number is never cut.
 */
#ifndef COLLECTOR_ENRICH_WIRE_RANGE_H
#define COLLECTOR_ENRICH_WIRE_RANGE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* A column for a field of the same name, in the message or in a nested one. */
struct wire_column {
	const char *name;
	const char *type; /* ClickHouse's type */
};

/* Returns the greatest number that a field may have: that of its type, or of
 * its column if that is less.  `columns` ends with a name of NULL. */
uint64_t wire_greatest(const ProtobufCFieldDescriptor *field,
		       const struct wire_column *columns);

/*
 * Checks bytes that protobuf-c accepted as a message.  Returns ERROR_INPUT,
 * which names the field and its value, if a number exceeds its field of 32 bits
 * or enumeration, or its column of 8, 16 or 32 bits.  Unknown enumerators are
 * accepted: a later version may send them.  `columns` ends with a name of NULL;
 * `what` is the event: "a click".
 */
int wire_check_ranges(const ProtobufCMessageDescriptor *message,
		      const struct wire_column *columns, const void *data,
		      size_t len, const char *what, struct error *err);

#endif
