#include "collector/enrich/wire_range.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The encoding: https://protobuf.dev/programming-guides/encoding/ */
enum {
	WIRE_VARINT = 0,
	WIRE_I64 = 1,
	WIRE_LEN = 2,
	WIRE_I32 = 5,
	VARINT_MAX = 10, /* bytes */
	DEPTH_MAX = 16,
};

struct wire_reader {
	const uint8_t *at, *end;
	const struct wire_column *columns;
	const char *what;
};

static bool read_varint(struct wire_reader *r, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_MAX && r->at < r->end; i++) {
		uint8_t byte = *r->at++;

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool skip_bytes(struct wire_reader *r, uint64_t len)
{
	if (len > (uint64_t)(r->end - r->at))
		return false;
	r->at += len;
	return true;
}

static uint64_t greatest_of_column(const struct wire_column *columns,
				   const char *name)
{
	const struct wire_column *c = columns;

	while (c->name && strcmp(c->name, name) != 0)
		c++;
	if (!c->name)
		return UINT64_MAX;
	if (!strcmp(c->type, "UInt8"))
		return UINT8_MAX;
	if (!strcmp(c->type, "UInt16"))
		return UINT16_MAX;
	return !strcmp(c->type, "UInt32") ? UINT32_MAX : UINT64_MAX;
}

uint64_t wire_greatest(const ProtobufCFieldDescriptor *field,
		       const struct wire_column *columns)
{
	uint64_t of_column;

	switch (field->type) {
	case PROTOBUF_C_TYPE_UINT32:
		of_column = greatest_of_column(columns, field->name);
		return of_column < UINT32_MAX ? of_column : UINT32_MAX;
	case PROTOBUF_C_TYPE_ENUM:
		return INT32_MAX;
	case PROTOBUF_C_TYPE_UINT64:
		return greatest_of_column(columns, field->name);
	default:
		return UINT64_MAX;
	}
}

static int check_message(struct wire_reader *r,
			 const ProtobufCMessageDescriptor *message,
			 unsigned depth, struct error *err);

static int check_number(const struct wire_reader *r,
			const ProtobufCFieldDescriptor *field, uint64_t value,
			struct error *err)
{
	if (!field || value <= wire_greatest(field, r->columns))
		return 0;
	return error_set(err, ERROR_INPUT, "not %s: %s %" PRIu64, r->what,
			 field->name, value);
}

/* Bytes that are no nested message have no numbers. */
static int check_bytes(struct wire_reader *r,
		       const ProtobufCFieldDescriptor *field, uint64_t len,
		       unsigned depth, struct error *err)
{
	const uint8_t *end = r->end;
	int status = 0;

	if (field && field->type == PROTOBUF_C_TYPE_MESSAGE &&
	    depth < DEPTH_MAX) {
		r->end = r->at + len;
		status = check_message(r, field->descriptor, depth + 1, err);
		r->at = r->end;
		r->end = end;
	} else {
		r->at += len;
	}
	return status;
}

static int set_broken(const struct wire_reader *r, struct error *err)
{
	return error_set(err, ERROR_INPUT, "not %s: not a protobuf message",
			 r->what);
}

static int check_message(struct wire_reader *r,
			 const ProtobufCMessageDescriptor *message,
			 unsigned depth, struct error *err)
{
	uint64_t key, value;

	while (r->at < r->end) {
		const ProtobufCFieldDescriptor *field;
		bool read = read_varint(r, &key);
		int status = 0;

		if (!read)
			return set_broken(r, err);
		field = protobuf_c_message_descriptor_get_field(
			message, (unsigned)(key >> 3));
		switch (key & 7) {
		case WIRE_VARINT:
			read = read_varint(r, &value);
			if (read)
				status = check_number(r, field, value, err);
			break;
		case WIRE_LEN:
			read = read_varint(r, &value) &&
			       value <= (uint64_t)(r->end - r->at);
			if (read)
				status = check_bytes(r, field, value, depth,
						     err);
			break;
		case WIRE_I64:
			read = skip_bytes(r, 8);
			break;
		case WIRE_I32:
			read = skip_bytes(r, 4);
			break;
		default:
			read = false;
		}
		if (!read)
			return set_broken(r, err);
		if (status < 0)
			return -1;
	}
	return 0;
}

int wire_check_ranges(const ProtobufCMessageDescriptor *message,
		      const struct wire_column *columns, const void *data,
		      size_t len, const char *what, struct error *err)
{
	struct wire_reader r = {.at = data, .columns = columns, .what = what};

	r.end = len ? r.at + len : r.at;
	return check_message(&r, message, 0, err);
}
