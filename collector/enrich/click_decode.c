#include "collector/enrich/click_decode.h"

#include <stddef.h>
#include <string.h>

/* The encoding: https://protobuf.dev/programming-guides/encoding/ */
enum {
	WIRE_VARINT = 0,
	WIRE_I64 = 1,
	WIRE_LEN = 2,
	/* Bytes; longer ones are unusual or invalid. */
	KEY_MAX = 2,
	LENGTH_MAX = 4,
	NUMBER_MAX = 9,
	TAGS_MAX = 32,
	COOKIES_MAX = 8, /* the redirector records at most this many */
};

enum field_kind {
	KIND_OTHER,
	KIND_U64,
	KIND_U32,
	KIND_U16, /* 16 bits in the table, U32 here */
	KIND_ENUM,
	KIND_BOOL,
	KIND_FIXED64,
	KIND_TEXT,
	KIND_BYTES,
	KIND_TAG,
	KIND_COOKIE,
};

struct field {
	enum field_kind kind;
	size_t offset;
};

#define FIELD(kind, member)                                                    \
	{                                                                      \
		KIND_##kind, offsetof(Shortloop__Click, member)                \
	}

/* Indexed by the field numbers of schemas/click.proto. */
static const struct field fields[] = {
	[1] = FIELD(FIXED64, event_id), [2] = FIELD(FIXED64, event_id_high),
	[3] = FIELD(U64, time_ms),	[4] = FIELD(TEXT, edge),
	[5] = FIELD(TEXT, domain),	[6] = FIELD(TEXT, code),
	[7] = FIELD(U64, link_id),	[8] = FIELD(TEXT, owner),
	[9] = FIELD(TEXT, campaign),	[10] = FIELD(TAG, tags),
	[11] = FIELD(ENUM, outcome),	[12] = FIELD(U16, status),
	[13] = FIELD(BYTES, client_ip), [14] = FIELD(BYTES, user_agent),
	[15] = FIELD(BYTES, referrer),	[16] = FIELD(BYTES, accept_language),
	[17] = FIELD(BYTES, query),	[18] = FIELD(TEXT, prefetch),
	[19] = FIELD(COOKIE, cookies),	[20] = FIELD(BOOL, maybe_sent),
	[21] = FIELD(BYTES, trace_id),
};

struct decoder {
	const uint8_t *at;
	const uint8_t *end;
	/* Buffer for the texts, each with a NUL at its end.  Together they are
	 * not longer than the event, where each has a key and a length. */
	char *texts;
	Shortloop__Click *click;
	char *tags[TAGS_MAX];
	Shortloop__Click__CookiesEntry cookies[COOKIES_MAX];
};

static bool read_varint(struct decoder *d, unsigned max, uint64_t *ret_value)
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

static bool read_fixed64(struct decoder *d, uint64_t *ret_value)
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

static bool read_bytes(struct decoder *d, ProtobufCBinaryData *ret_bytes)
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

static char *read_text(struct decoder *d)
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

/* Returns the maximum; greater values are unusual, and rejected
 * (wire_range.h). */
static uint64_t greatest_of_kind(enum field_kind kind)
{
	switch (kind) {
	case KIND_U32:
		return UINT32_MAX;
	case KIND_U16:
		return UINT16_MAX;
	case KIND_ENUM:
		return INT32_MAX;
	default:
		return UINT64_MAX;
	}
}

static bool read_number(struct decoder *d, enum field_kind kind, char *member)
{
	uint64_t value;
	uint32_t low;
	protobuf_c_boolean truth;

	if (kind == KIND_FIXED64 ? !read_fixed64(d, &value)
				 : !read_varint(d, NUMBER_MAX, &value))
		return false;
	if (value > greatest_of_kind(kind))
		return false;
	low = (uint32_t)value;
	truth = value != 0;
	if (kind == KIND_U32 || kind == KIND_U16 || kind == KIND_ENUM)
		memcpy(member, &low, sizeof(low));
	else if (kind == KIND_BOOL)
		memcpy(member, &truth, sizeof(truth));
	else
		memcpy(member, &value, sizeof(value));
	return true;
}

static bool read_tag(struct decoder *d)
{
	if (d->click->n_tags == TAGS_MAX)
		return false;
	d->tags[d->click->n_tags] = read_text(d);
	return d->tags[d->click->n_tags++];
}

/* Reads a key or a value; each may be missing. */
static bool read_cookie_field(struct decoder *d,
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

static bool read_cookie(struct decoder *d)
{
	Shortloop__Click__CookiesEntry *cookie;
	const uint8_t *end = d->end;
	ProtobufCBinaryData bytes;

	if (d->click->n_cookies == COOKIES_MAX || !read_bytes(d, &bytes))
		return false;
	cookie = &d->cookies[d->click->n_cookies++];
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

static unsigned wire_of(enum field_kind kind)
{
	switch (kind) {
	case KIND_U64:
	case KIND_U32:
	case KIND_U16:
	case KIND_ENUM:
	case KIND_BOOL:
		return WIRE_VARINT;
	case KIND_FIXED64:
		return WIRE_I64;
	default:
		return WIRE_LEN;
	}
}

static bool read_field(struct decoder *d)
{
	const struct field *field;
	uint64_t key;
	char *member, *text;

	if (!read_varint(d, KEY_MAX, &key) ||
	    key >> 3 >= sizeof(fields) / sizeof(*fields))
		return false;
	field = &fields[key >> 3];
	if (field->kind == KIND_OTHER || (key & 7) != wire_of(field->kind))
		return false;
	member = (char *)d->click + field->offset;
	switch (field->kind) {
	case KIND_TEXT:
		text = read_text(d);
		memcpy(member, &text, sizeof(text));
		return text;
	case KIND_BYTES:
		return read_bytes(d, (ProtobufCBinaryData *)(void *)member);
	case KIND_TAG:
		return read_tag(d);
	case KIND_COOKIE:
		return read_cookie(d);
	default:
		return read_number(d, field->kind, member);
	}
}

static bool keep_tags(struct arena *arena, const struct decoder *d)
{
	Shortloop__Click *click = d->click;
	size_t size = click->n_tags * sizeof(*d->tags);

	if (!size)
		return true;
	click->tags = arena_alloc(arena, size);
	if (click->tags)
		memcpy(click->tags, d->tags, size);
	return click->tags;
}

static bool keep_cookies(struct arena *arena, const struct decoder *d)
{
	Shortloop__Click *click = d->click;
	size_t count = click->n_cookies;
	Shortloop__Click__CookiesEntry *entries;

	if (!count)
		return true;
	entries = arena_alloc(arena, count * sizeof(*entries));
	click->cookies = arena_alloc(arena, count * sizeof(*click->cookies));
	if (!entries || !click->cookies)
		return false;
	memcpy(entries, d->cookies, count * sizeof(*entries));
	for (size_t i = 0; i < count; i++)
		click->cookies[i] = &entries[i];
	return true;
}

bool click_decode(struct arena *arena, const void *event, size_t len,
		  Shortloop__Click *ret_click)
{
	struct decoder d;

	d.at = event;
	d.end = len ? d.at + len : d.at;
	d.texts = arena_alloc(arena, len);
	d.click = ret_click;
	if (!d.texts)
		return false;
	shortloop__click__init(ret_click);
	while (d.at < d.end)
		if (!read_field(&d))
			return false;
	return keep_tags(arena, &d) && keep_cookies(arena, &d);
}
