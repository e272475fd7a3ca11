#include "collector/enrich/click_decode.h"

#include <stdlib.h>
#include <string.h>

/* The encoding: https://protobuf.dev/programming-guides/encoding/ */
enum {
	WIRE_VARINT = 0,
	WIRE_I64 = 1,
	WIRE_LEN = 2,
	WIRE_I32 = 5,
	/* Bytes; longer ones are unusual or invalid. */
	KEY_MAX = 5,
	LENGTH_MAX = 4,
	NUMBER_MAX = 9,
	VARINT_MAX = 10, /* bytes of the longest number that is skipped */
	TEXTS_MAX = 32,
	COOKIES_MAX = 8, /* the redirector records at most this many */
};

enum field_kind {
	KIND_UNKNOWN, /* no field of the message has this number */
	KIND_OTHER,   /* left to protobuf-c */
	KIND_32,
	KIND_64,
	KIND_BOOL,
	KIND_FIXED64,
	KIND_TEXT,
	KIND_TEXTS,
	KIND_BYTES,
	KIND_COOKIES,
};

struct field {
	enum field_kind kind;
	unsigned wire;	   /* the usual wire type */
	unsigned offset;   /* of the member */
	unsigned at_count; /* offset of the number of its elements */
	uint64_t greatest; /* greater numbers are left to protobuf-c */
};

struct click_decoder {
	const ProtobufCMessageDescriptor *message;
	unsigned count;
	struct field fields[]; /* indexed by the numbers of the fields */
};

/* --- the table of fields -------------------------------------------------- */

static enum field_kind kind_of_single(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_ENUM:
		return KIND_32;
	case PROTOBUF_C_TYPE_UINT64:
		return KIND_64;
	case PROTOBUF_C_TYPE_BOOL:
		return KIND_BOOL;
	case PROTOBUF_C_TYPE_FIXED64:
		return KIND_FIXED64;
	case PROTOBUF_C_TYPE_STRING:
		return KIND_TEXT;
	case PROTOBUF_C_TYPE_BYTES:
		return KIND_BYTES;
	default:
		return KIND_OTHER;
	}
}

static enum field_kind kind_of_repeated(const ProtobufCFieldDescriptor *f)
{
	if (f->type == PROTOBUF_C_TYPE_STRING)
		return KIND_TEXTS;
	return f->type == PROTOBUF_C_TYPE_MESSAGE &&
			       f->descriptor ==
				       &shortloop__click__cookies_entry__descriptor
		       ? KIND_COOKIES
		       : KIND_OTHER;
}

/* A member of a union, and one that may be absent, has more to set than its
 * value. */
static enum field_kind kind_of_field(const ProtobufCFieldDescriptor *f)
{
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return KIND_OTHER;
	if (f->label == PROTOBUF_C_LABEL_NONE)
		return kind_of_single(f);
	return f->label == PROTOBUF_C_LABEL_REPEATED ? kind_of_repeated(f)
						     : KIND_OTHER;
}

static unsigned wire_of_kind(enum field_kind kind)
{
	switch (kind) {
	case KIND_32:
	case KIND_64:
	case KIND_BOOL:
		return WIRE_VARINT;
	case KIND_FIXED64:
		return WIRE_I64;
	default:
		return WIRE_LEN;
	}
}

static struct field describe_field(const ProtobufCFieldDescriptor *f,
				   const struct wire_column *columns)
{
	enum field_kind kind = kind_of_field(f);

	return (struct field){
		.kind = kind,
		.wire = wire_of_kind(kind),
		.offset = f->offset,
		.at_count = f->quantifier_offset,
		.greatest = wire_greatest(f, columns),
	};
}

static unsigned count_numbers(const ProtobufCMessageDescriptor *message)
{
	unsigned count = 0;

	for (unsigned i = 0; i < message->n_fields; i++)
		if (message->fields[i].id >= count)
			count = message->fields[i].id + 1;
	return count;
}

struct click_decoder *
click_decoder_new(const ProtobufCMessageDescriptor *message,
		  const struct wire_column *columns, struct error *err)
{
	unsigned count = count_numbers(message);
	struct click_decoder *c =
		calloc(1, sizeof(*c) + count * sizeof(*c->fields));

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	c->message = message;
	c->count = count;
	for (unsigned i = 0; i < message->n_fields; i++)
		c->fields[message->fields[i].id] =
			describe_field(&message->fields[i], columns);
	return c;
}

void click_decoder_free(struct click_decoder *c)
{
	free(c);
}

/* --- the bytes of an event ------------------------------------------------ */

/* A click being decoded. */
struct decoding {
	const struct click_decoder *decoder;
	struct arena *arena;
	const uint8_t *at;
	const uint8_t *end;
	/* Buffer for the texts, each with a NUL at its end.  Together they are
	 * not longer than the event, where each has a key and a length. */
	char *texts;
	char *click;
};

static bool read_varint(struct decoding *d, unsigned max, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < max && d->at < d->end; i++) {
		uint8_t byte = *d->at++;

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool read_fixed64(struct decoding *d, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (d->end - d->at < 8)
		return false;
	for (unsigned i = 0; i < 8; i++)
		value |= (uint64_t)d->at[i] << (8 * i);
	d->at += 8;
	*ret_value = value;
	return true;
}

static bool read_bytes(struct decoding *d, ProtobufCBinaryData *ret_bytes)
{
	uint64_t len;

	if (!read_varint(d, LENGTH_MAX, &len) ||
	    len > (uint64_t)(d->end - d->at))
		return false;
	/* The cast is safe: the message is only read. */
	ret_bytes->data = len ? (uint8_t *)(uintptr_t)d->at : NULL;
	ret_bytes->len = len;
	d->at += len;
	return true;
}

static char *read_text(struct decoding *d)
{
	ProtobufCBinaryData bytes;
	char *text;

	if (!read_bytes(d, &bytes))
		return NULL;
	text = d->texts;
	if (bytes.len)
		memcpy(text, bytes.data, bytes.len);
	text[bytes.len] = '\0';
	d->texts += bytes.len + 1;
	return text;
}

/* Greater numbers than the field's greatest are unusual, and rejected
 * (wire_range.h). */
static bool read_number(struct decoding *d, const struct field *field,
			char *member)
{
	uint64_t value;
	uint32_t low;
	protobuf_c_boolean truth;

	if (field->kind == KIND_FIXED64 ? !read_fixed64(d, &value)
					: !read_varint(d, NUMBER_MAX, &value))
		return false;
	if (value > field->greatest)
		return false;
	low = (uint32_t)value;
	truth = value != 0;
	if (field->kind == KIND_32)
		memcpy(member, &low, sizeof(low));
	else if (field->kind == KIND_BOOL)
		memcpy(member, &truth, sizeof(truth));
	else
		memcpy(member, &value, sizeof(value));
	return true;
}

static size_t *count_of(const struct decoding *d, const struct field *field)
{
	return (size_t *)(void *)(d->click + field->at_count);
}

/* Appends a text to a list, which has room for TEXTS_MAX. */
static bool read_one_of_texts(struct decoding *d, const struct field *field,
			      char ***list)
{
	size_t *count = count_of(d, field);

	if (*count == TEXTS_MAX)
		return false;
	if (!*count)
		*list = arena_alloc(d->arena, TEXTS_MAX * sizeof(**list));
	if (!*list)
		return false;
	(*list)[*count] = read_text(d);
	return (*list)[(*count)++];
}

/* Reads a key or a value; each may be missing.  An entry of a map has no other
 * fields, whatever the message. */
static bool read_cookie_field(struct decoding *d,
			      Shortloop__Click__CookiesEntry *cookie)
{
	uint64_t key;
	char **member;

	if (!read_varint(d, KEY_MAX, &key))
		return false;
	if (key == (1 << 3 | WIRE_LEN))
		member = &cookie->key;
	else if (key == (2 << 3 | WIRE_LEN))
		member = &cookie->value;
	else
		return false;
	*member = read_text(d);
	return *member;
}

/* The pointers of the list lead to neighbours. */
static bool make_cookies(struct decoding *d,
			 Shortloop__Click__CookiesEntry ***ret_list)
{
	Shortloop__Click__CookiesEntry *entries =
		arena_alloc(d->arena, COOKIES_MAX * sizeof(*entries));
	Shortloop__Click__CookiesEntry **list =
		arena_alloc(d->arena, COOKIES_MAX * sizeof(*list));

	if (!entries || !list)
		return false;
	for (size_t i = 0; i < COOKIES_MAX; i++)
		list[i] = &entries[i];
	*ret_list = list;
	return true;
}

static bool read_cookie(struct decoding *d,
			Shortloop__Click__CookiesEntry *cookie)
{
	const uint8_t *end = d->end;
	ProtobufCBinaryData bytes;

	if (!read_bytes(d, &bytes))
		return false;
	shortloop__click__cookies_entry__init(cookie);
	/* The entry is a message by itself. */
	d->end = d->at;
	d->at -= bytes.len;
	while (d->at < d->end)
		if (!read_cookie_field(d, cookie))
			return false;
	d->end = end;
	return true;
}

static bool read_one_of_cookies(struct decoding *d, const struct field *field,
				Shortloop__Click__CookiesEntry ***list)
{
	size_t *count = count_of(d, field);

	if (*count == COOKIES_MAX || (!*count && !make_cookies(d, list)))
		return false;
	return read_cookie(d, (*list)[(*count)++]);
}

/* Skips a field that the message does not have: a redirector of a later version
 * sent it.  What protobuf-c refuses is left to it: groups, and what is cut
 * off. */
static bool skip_field(struct decoding *d, unsigned wire)
{
	ProtobufCBinaryData bytes;
	uint64_t number;

	switch (wire) {
	case WIRE_VARINT:
		return read_varint(d, VARINT_MAX, &number);
	case WIRE_I64:
		return read_fixed64(d, &number);
	case WIRE_LEN:
		return read_bytes(d, &bytes);
	case WIRE_I32:
		if (d->end - d->at < 4)
			return false;
		d->at += 4;
		return true;
	default:
		return false;
	}
}

static bool read_member(struct decoding *d, const struct field *field)
{
	char *text, *member = d->click + field->offset;

	switch (field->kind) {
	case KIND_TEXT:
		text = read_text(d);
		memcpy(member, &text, sizeof(text));
		return text;
	case KIND_BYTES:
		return read_bytes(d, (ProtobufCBinaryData *)(void *)member);
	case KIND_TEXTS:
		return read_one_of_texts(d, field, (char ***)(void *)member);
	case KIND_COOKIES:
		return read_one_of_cookies(d, field, (void *)member);
	default:
		return read_number(d, field, member);
	}
}

static bool read_field(struct decoding *d)
{
	const struct field *field;
	uint64_t key;

	/* No field has the number 0, and none a longer key. */
	if (!read_varint(d, KEY_MAX, &key) || key < 1 << 3 || key > UINT32_MAX)
		return false;
	if (key >> 3 >= d->decoder->count)
		return skip_field(d, key & 7);
	field = &d->decoder->fields[key >> 3];
	if (field->kind == KIND_UNKNOWN)
		return skip_field(d, key & 7);
	if (field->kind == KIND_OTHER || (key & 7) != field->wire)
		return false;
	return read_member(d, field);
}

bool click_decode(const struct click_decoder *decoder, struct arena *arena,
		  const void *event, size_t len, Shortloop__Click *ret_click)
{
	struct decoding d = {.decoder = decoder, .arena = arena};

	d.at = event;
	d.end = len ? d.at + len : d.at;
	d.texts = arena_alloc(arena, len);
	d.click = (char *)ret_click;
	if (!d.texts)
		return false;
	decoder->message->message_init(&ret_click->base);
	while (d.at < d.end)
		if (!read_field(&d))
			return false;
	return true;
}
