#include "redirector/events/click_event.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct click_encoder {
	/* 128 random bits at the start of each encoder, then a count: ids of
	 * two encoders collide only if their random numbers do. */
	uint64_t id_high;
	uint64_t id_low;
	struct click_limits limits;
	size_t bound; /* largest event without its link's part */
	struct buf out;
	char *edge;
};

/* Bytes for everything but text: tags, lengths and numbers. */
#define FRAME_MAX 512
/* The same for one cookie. */
#define COOKIE_FRAME_MAX 16

/* Returns a length that does not cut through a character or a percent
 * escape. */
static size_t cut_length(struct http_slice s, size_t max)
{
	size_t len = max;

	if (s.len <= max)
		return s.len;
	for (int back = 0; back < 3 && len > 0; back++) {
		if (((unsigned char)s.data[len] & 0xc0) != 0x80)
			break;
		len--;
	}
	if (((unsigned char)s.data[len] & 0xc0) == 0x80)
		len = max; /* not UTF-8 anyway */
	if (len >= 1 && s.data[len - 1] == '%')
		return len - 1;
	if (len >= 2 && s.data[len - 2] == '%')
		return len - 2;
	return len;
}

static struct http_slice cut_text(struct http_slice s, size_t max)
{
	return (struct http_slice){s.data, cut_length(s, max)};
}

/* Copies visible ASCII; any other byte becomes '?', so that any bytes fit a
 * UTF-8 field. */
static void put_printable(const char *text, size_t len, char *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		out[i] = c < 0x20 || c > 0x7e ? '?' : (char)c;
	}
}

static void copy_printable(struct http_slice s, size_t max, char *out)
{
	size_t len = s.len < max ? s.len : max;

	put_printable(s.data, len, out);
	out[len] = '\0';
}

static char *text_or_empty(const char *text)
{
	static const char empty[] = "";
	const char *from = text ? text : empty;
	char *to;

	memcpy(&to, &from, sizeof(to));
	return to;
}

static void append_packed(struct buf *out, const Shortloop__Click *msg)
{
	size_t len = shortloop__click__get_packed_size(msg);
	char *to = buf_reserve(out, len);

	if (!to)
		return;
	shortloop__click__pack(msg, (uint8_t *)to);
	out->len += len;
}

void click_link_part(struct buf *out, const struct click_link *link)
{
	Shortloop__Click msg;
	char copy[CLICK_CODE_MAX + 1];

	shortloop__click__init(&msg);
	copy_printable(link->code, CLICK_CODE_MAX, copy);
	msg.code = copy;
	msg.link_id = link->link_id;
	msg.account = text_or_empty(link->account);
	msg.owner = text_or_empty(link->owner);
	msg.campaign = text_or_empty(link->campaign);
	msg.n_tags = link->tag_count;
	memcpy(&msg.tags, &link->tags, sizeof(msg.tags));
	append_packed(out, &msg);
}

struct click_encoder *click_encoder_new(const char *edge,
					const struct click_limits *limits,
					struct error *err)
{
	struct click_encoder *e = calloc(1, sizeof(*e));
	uint64_t random[2];

	if (!e) {
		error_set_nomem(err);
		return NULL;
	}
	e->edge = strdup(edge);
	if (!e->edge) {
		error_set_nomem(err);
		goto fail;
	}
	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		error_set_errno(err, "random bytes for event ids");
		goto fail;
	}
	e->id_high = random[0];
	e->id_low = random[1];
	e->limits = *limits;
	e->bound = FRAME_MAX + strlen(edge) + CLICK_DOMAIN_MAX +
		   CLICK_PREFETCH_MAX + limits->user_agent + limits->referrer +
		   limits->accept_language + limits->query +
		   CLICK_COOKIES_MAX * (COOKIE_FRAME_MAX +
					CLICK_COOKIE_NAME_MAX + limits->cookie);
	return e;
fail:
	click_encoder_free(e);
	return NULL;
}

void click_encoder_free(struct click_encoder *e)
{
	if (!e)
		return;
	buf_free(&e->out);
	free(e->edge);
	free(e);
}

/* --- the encoding ----------------------------------------------------------
 *
 * The message is encoded by hand (protobuf.dev/programming-guides/encoding),
 * since it is done for each visit: protobuf-c reads the description of every
 * field of any message.  A zero or empty value is left out, as proto3
 * requires. */

enum {
	WIRE_VARINT = 0,
	WIRE_64_BITS = 1,
	WIRE_BYTES = 2
};

static char *put_varint(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

static char *put_tag(char *to, unsigned field, unsigned wire)
{
	return put_varint(to, field << 3 | wire);
}

static char *put_number(char *to, unsigned field, uint64_t value)
{
	return value ? put_varint(put_tag(to, field, WIRE_VARINT), value) : to;
}

static char *put_fixed(char *to, unsigned field, uint64_t value)
{
	to = put_tag(to, field, WIRE_64_BITS);
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static char *put_bytes(char *to, unsigned field, struct http_slice bytes)
{
	if (bytes.len == 0)
		return to;
	to = put_varint(put_tag(to, field, WIRE_BYTES), bytes.len);
	memcpy(to, bytes.data, bytes.len);
	return to + bytes.len;
}

static char *put_text(char *to, unsigned field, const char *text)
{
	return put_bytes(to, field, (struct http_slice){text, strlen(text)});
}

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

/* The size of a field whose number takes one byte. */
static size_t bytes_size(size_t len)
{
	return len ? 1 + varint_size(len) + len : 0;
}

/* A map entry is a message: its key is field 1, its value field 2. */
static char *put_cookie(char *to, unsigned field,
			const struct click_cookie *cookie, size_t max)
{
	size_t name_len = strlen(cookie->name);
	size_t value_len = cut_length(cookie->value, max);

	to = put_tag(to, field, WIRE_BYTES);
	to = put_varint(to, bytes_size(name_len) + bytes_size(value_len));
	to = put_text(to, 1, cookie->name);
	if (!value_len)
		return to;
	to = put_varint(put_tag(to, 2, WIRE_BYTES), value_len);
	put_printable(cookie->value.data, value_len, to);
	return to + value_len;
}

/* The field numbers are those of schemas/click.proto. */
static char *put_click(char *to, struct click_encoder *e,
		       const struct click *click)
{
	const struct click_limits *max = &e->limits;
	struct http_slice client = {(const char *)click->client.bytes,
				    click->client.len};
	char domain[CLICK_DOMAIN_MAX + 1], prefetch[CLICK_PREFETCH_MAX + 1];

	click_domain(click->host, domain);
	copy_printable(click->prefetch, CLICK_PREFETCH_MAX, prefetch);
	to = put_fixed(to, 1, e->id_low++);
	to = put_fixed(to, 2, e->id_high);
	to = put_number(to, 3, (uint64_t)click->time_ms);
	to = put_text(to, 4, e->edge);
	to = put_text(to, 5, domain);
	to = put_number(to, 11, (uint64_t)click->outcome);
	to = put_number(to, 12, (uint64_t)click->status);
	to = put_bytes(to, 13, client);
	to = put_bytes(to, 14, cut_text(click->user_agent, max->user_agent));
	to = put_bytes(to, 15, cut_text(click->referrer, max->referrer));
	to = put_bytes(to, 16,
		       cut_text(click->accept_language, max->accept_language));
	to = put_bytes(to, 17, cut_text(click->query, max->query));
	to = put_text(to, 18, prefetch);
	for (size_t i = 0; i < click->cookie_count; i++)
		to = put_cookie(to, 19, &click->cookies[i], max->cookie);
	to = put_bytes(to, 21, click->trace_id);
	to = put_number(to, 22, click->trimmed);
	return put_bytes(to, 24, click->url_digest);
}

struct http_slice click_encode(struct click_encoder *e,
			       const struct click *click)
{
	char *to;

	buf_reset(&e->out);
	/* At this point every text has a maximum length. */
	to = buf_reserve(&e->out, e->bound + click->link_part.len);
	if (!to)
		return (struct http_slice){0};
	e->out.len = (size_t)(put_click(to, e, click) - to);
	buf_append(&e->out, click->link_part.data, click->link_part.len);
	return (struct http_slice){e->out.data, e->out.len};
}
