#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/click_decode.h"
#include "collector/enrich/event.h"

enum {
	PACKED_MAX = 2048,
	TRIES = 200000
};

static ProtobufCBinaryData make_bytes(char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
}

/* Packs a click with every field; the values are usual or not. */
static size_t pack_click(uint8_t *out, bool usual)
{
	char edge[] = "edge-1", domain[] = "go.example", code[] = "abc",
	     account[] = "acme", owner[] = "owner", campaign[] = "c",
	     one[] = "one", two[] = "", agent[] = "Mozilla/5.0",
	     referrer[] = "https://t.co/", language[] = "de", query[] = "a=b",
	     prefetch[] = "prefetch", ip[] = "\x08\x08\x08\x08",
	     trace[] = "0123456789abcdef", key[] = "k", value[] = "v",
	     empty[] = "";
	char *tags[] = {one, two};
	Shortloop__Click__CookiesEntry entry, other;
	Shortloop__Click__CookiesEntry *entries[] = {&entry, &other};
	Shortloop__Click m;

	shortloop__click__init(&m);
	shortloop__click__cookies_entry__init(&entry);
	entry.key = key;
	entry.value = value;
	shortloop__click__cookies_entry__init(&other);
	other.key = value;
	other.value = empty;
	m.event_id = UINT64_C(0x1122334455667788);
	m.event_id_high = 7;
	m.time_ms = UINT64_C(1795289664000);
	m.edge = edge;
	m.domain = domain;
	m.code = code;
	m.link_id = UINT64_MAX;
	m.account = account;
	m.owner = owner;
	m.campaign = campaign;
	m.n_tags = 2;
	m.tags = tags;
	m.outcome = SHORTLOOP__OUTCOME__OUTCOME_HEAD;
	m.status = 302;
	m.client_ip = make_bytes(ip);
	m.user_agent = make_bytes(agent);
	m.referrer = make_bytes(referrer);
	m.accept_language = make_bytes(language);
	m.query = make_bytes(query);
	m.prefetch = prefetch;
	m.maybe_sent = 1;
	m.trimmed = 1;
	m.trace_id = make_bytes(trace);
	m.url_digest = make_bytes(trace);
	m.n_cookies = 2;
	m.cookies = entries;
	/* A varint of ten bytes is not usual. */
	if (usual)
		m.link_id = UINT64_MAX >> 1;
	assert_true(shortloop__click__get_packed_size(&m) < PACKED_MAX);
	return shortloop__click__pack(&m, out);
}

struct world {
	struct click_decoder *decoder;
	struct arena arena;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	assert_non_null(w);
	w->decoder = event_decoder_new(&err);
	assert_non_null(w->decoder);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	click_decoder_free(w->decoder);
	arena_free(&w->arena);
	free(w);
	return 0;
}

/* Both are equal when packed again, without the unknown fields, which
 * protobuf-c keeps and we skip. */
static void assert_same(const Shortloop__Click *ours, Shortloop__Click *theirs)
{
	uint8_t a[2 * PACKED_MAX], b[2 * PACKED_MAX];
	unsigned unknown = theirs->base.n_unknown_fields;
	size_t len;

	theirs->base.n_unknown_fields = 0;
	len = shortloop__click__get_packed_size(theirs);
	assert_int_equal(ours->base.n_unknown_fields, 0);
	assert_int_equal(shortloop__click__get_packed_size(ours), len);
	assert_true(len <= sizeof(a));
	shortloop__click__pack(ours, a);
	shortloop__click__pack(theirs, b);
	assert_memory_equal(a, b, len);
	assert_int_equal(ours->status, theirs->status);
	assert_int_equal(ours->n_tags, theirs->n_tags);
	assert_int_equal(ours->n_cookies, theirs->n_cookies);
	theirs->base.n_unknown_fields = unknown;
}

/* Returns whether our decoder accepted it. */
static bool decode_and_compare_click(struct world *w, const uint8_t *event,
				     size_t len)
{
	Shortloop__Click ours, *theirs;

	arena_reset(&w->arena);
	if (!click_decode(w->decoder, &w->arena, event, len, &ours))
		return false;
	theirs = shortloop__click__unpack(NULL, len, event);
	assert_non_null(theirs);
	assert_same(&ours, theirs);
	shortloop__click__free_unpacked(theirs, NULL);
	return true;
}

/* Does the same for a click with these bytes before its fields, and again with
 * them behind. */
static bool is_decoded_with(struct world *w, const char *bytes, size_t len)
{
	uint8_t before[PACKED_MAX], behind[PACKED_MAX];
	size_t click = pack_click(behind, true);
	bool taken;

	assert_true(click + len < PACKED_MAX);
	memcpy(before, bytes, len);
	memcpy(before + len, behind, click);
	memcpy(behind + click, bytes, len);
	taken = decode_and_compare_click(w, before, len + click);
	assert_int_equal(decode_and_compare_click(w, behind, click + len),
			 taken);
	return taken;
}

static void the_usual_click_is_what_protobuf_c_makes_of_it(void **state)
{
	struct world *w = *state;
	uint8_t event[PACKED_MAX];

	assert_true(
		decode_and_compare_click(w, event, pack_click(event, true)));
	assert_true(decode_and_compare_click(w, event, 0));
}

static void what_is_not_usual_is_left_to_protobuf_c(void **state)
{
	static const char *const others[] = {
		"\x18",				 /* cut off */
		"\x1a\x01x",			 /* a time that is text */
		"\x0b",				 /* a group */
		"\x22\x05x",			 /* longer than the message */
		"\xff\xff\xff\xff",		 /* no key */
		"\x98\x80\x80\x80\x80\x01\x01",	 /* a key of six bytes */
		"\x98\x80\x80\x80\x10\x01",	 /* a key of 33 bits */
		"\x22\x81\x80\x80\x80\x80\x01x", /* a length of six */
		"\x9a\x01\x02\x08\x01",	 /* the name of a cookie is a number */
		"\x9a\x01\x03\x1a\x01x", /* it has a third field */
		"\x9a\x01\x02\x0a\x01",	 /* the cookie ends before its name */
	};
	struct world *w = *state;
	uint8_t event[PACKED_MAX];

	assert_false(
		decode_and_compare_click(w, event, pack_click(event, false)));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(decode_and_compare_click(
			w, (const uint8_t *)others[i], strlen(others[i])));
}

static void the_greatest_number_of_each_size_is_usual(void **state)
{
	struct world *w = *state;
	uint8_t event[PACKED_MAX];
	Shortloop__Click m;
	size_t len;

	shortloop__click__init(&m);
	m.event_id = UINT64_MAX;
	m.status = UINT16_MAX;
	m.outcome = (Shortloop__Outcome)INT32_MAX;
	len = shortloop__click__pack(&m, event);
	assert_true(decode_and_compare_click(w, event, len));
	/* The three bytes of the status can hold a greater value. */
	m.outcome = SHORTLOOP__OUTCOME__OUTCOME_UNSPECIFIED;
	len = shortloop__click__pack(&m, event);
	assert_int_equal(event[len - 1], 0x03);
	event[len - 1] = 0x07;
	assert_false(decode_and_compare_click(w, event, len));
}

/* --- fields that the message does not have ---------------------------------
 */

#define BYTES(text) text, sizeof(text) - 1

static void an_unknown_field_of_each_wire_type_is_skipped(void **state)
{
	struct world *w = *state;

	assert_true(is_decoded_with(w, BYTES("\xa8\x06\x01")));
	assert_true(is_decoded_with(
		w, BYTES("\xa8\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")));
	assert_true(is_decoded_with(w, BYTES("\xa9\x06"
					     "12345678")));
	assert_true(is_decoded_with(w, BYTES("\xaa\x06\x00")));
	assert_true(is_decoded_with(w, BYTES("\xaa\x06\x03"
					     "abc")));
	assert_true(is_decoded_with(w, BYTES("\xad\x06"
					     "1234")));
	/* The least and the greatest number after those of the message. */
	assert_true(is_decoded_with(w, BYTES("\xc8\x01\x01")));
	assert_true(is_decoded_with(w, BYTES("\xf8\xff\xff\xff\x0f\x01")));
}

static void a_damaged_unknown_field_is_left_to_protobuf_c(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} damaged[] = {
		{BYTES("\xa8\x06")},
		{BYTES("\xa8\x06\x80")},
		{BYTES("\xa8\x06\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80")},
		{BYTES("\xa9\x06"
		       "1234567")},
		{BYTES("\xaa\x06")},
		{BYTES("\xaa\x06\x04"
		       "abc")},
		{BYTES("\xaa\x06\xff\xff\xff\x7f")},
		{BYTES("\xad\x06"
		       "123")},
		{BYTES("\xab\x06")}, /* a group begins, and ends */
		{BYTES("\xac\x06")},
		{BYTES("\xae\x06")}, /* there are no such types */
		{BYTES("\xaf\x06")},
		{BYTES("\x00\x01")}, /* there is no such field */
		{BYTES("\x80\x00\x01")},
	};
	struct world *w = *state;
	uint8_t event[PACKED_MAX];
	size_t len = pack_click(event, true);

	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		memcpy(event + len, damaged[i].bytes, damaged[i].len);
		assert_false(decode_and_compare_click(w, event,
						      len + damaged[i].len));
	}
}

/* --- fields that the message gets ------------------------------------------
 */

/* A click of a message with more fields than ours. */
struct longer_click {
	Shortloop__Click click;
	uint32_t width;
	uint64_t height;
	protobuf_c_boolean loud;
	char *colour;
	ProtobufCBinaryData blob;
	size_t n_names;
	char **names;
	/* Neither this type nor this label is decoded here. */
	int32_t depth;
	char *note;
};

#define NEW_FIELDS 8

struct longer_message {
	ProtobufCFieldDescriptor fields[64];
	ProtobufCMessageDescriptor message;
};

static void init_longer_click(ProtobufCMessage *message)
{
	memset(message, 0, sizeof(struct longer_click));
	shortloop__click__init((Shortloop__Click *)message);
}

/* Describes Click with the additional fields 101 to 108. */
static void describe_longer_click(struct longer_message *m)
{
	const ProtobufCMessageDescriptor *click = &shortloop__click__descriptor;
	const ProtobufCFieldDescriptor added[NEW_FIELDS] = {
		{.name = "width",
		 .type = PROTOBUF_C_TYPE_UINT32,
		 .offset = offsetof(struct longer_click, width)},
		{.name = "height",
		 .type = PROTOBUF_C_TYPE_UINT64,
		 .offset = offsetof(struct longer_click, height)},
		{.name = "loud",
		 .type = PROTOBUF_C_TYPE_BOOL,
		 .offset = offsetof(struct longer_click, loud)},
		{.name = "colour",
		 .type = PROTOBUF_C_TYPE_STRING,
		 .offset = offsetof(struct longer_click, colour)},
		{.name = "blob",
		 .type = PROTOBUF_C_TYPE_BYTES,
		 .offset = offsetof(struct longer_click, blob)},
		{.name = "names",
		 .type = PROTOBUF_C_TYPE_STRING,
		 .label = PROTOBUF_C_LABEL_REPEATED,
		 .quantifier_offset = offsetof(struct longer_click, n_names),
		 .offset = offsetof(struct longer_click, names)},
		{.name = "depth",
		 .type = PROTOBUF_C_TYPE_SINT32,
		 .offset = offsetof(struct longer_click, depth)},
		{.name = "note",
		 .type = PROTOBUF_C_TYPE_STRING,
		 .label = PROTOBUF_C_LABEL_OPTIONAL,
		 .offset = offsetof(struct longer_click, note)},
	};

	m->message = *click;
	m->message.fields = m->fields;
	m->message.message_init = init_longer_click;
	memcpy(m->fields, click->fields, click->n_fields * sizeof(*added));
	for (unsigned i = 0; i < NEW_FIELDS; i++) {
		ProtobufCFieldDescriptor *f = &m->fields[click->n_fields + i];

		*f = added[i];
		f->id = 101 + i;
		if (!f->label)
			f->label = PROTOBUF_C_LABEL_NONE;
	}
	m->message.n_fields = click->n_fields + NEW_FIELDS;
}

/* Decodes a usual click with these bytes behind it. */
static bool decode_longer_click(struct arena *arena, const char *bytes,
				size_t len, struct longer_click *ret)
{
	static const struct wire_column columns[] = {{"width", "UInt8"},
						     {NULL, NULL}};
	static struct longer_message m;
	uint8_t event[PACKED_MAX];
	size_t click = pack_click(event, true);
	struct click_decoder *decoder;
	struct error err = {0};
	bool taken;

	memcpy(event + click, bytes, len);
	describe_longer_click(&m);
	decoder = click_decoder_new(&m.message, columns, &err);
	assert_non_null(decoder);
	taken = click_decode(decoder, arena, event, click + len, &ret->click);
	click_decoder_free(decoder);
	return taken;
}

static void a_field_that_the_message_gets_is_decoded(void **state)
{
	struct world *w = *state;
	struct longer_click got;

	assert_true(decode_longer_click(&w->arena,
					BYTES("\xa8\x06\xff\x01"
					      "\xb0\x06\x80\x01"
					      "\xb8\x06\x01"
					      "\xc2\x06\x03red"
					      "\xca\x06\x02\x00\x01"
					      "\xd2\x06\x01"
					      "a"
					      "\xd2\x06\x02"
					      "bc"),
					&got));
	assert_int_equal(got.width, 255);
	assert_int_equal(got.height, 128);
	assert_true(got.loud);
	assert_string_equal(got.colour, "red");
	assert_int_equal(got.blob.len, 2);
	assert_int_equal(got.n_names, 2);
	assert_string_equal(got.names[0], "a");
	assert_string_equal(got.names[1], "bc");
	assert_int_equal(got.click.status, 302);
	assert_string_equal(got.click.tags[0], "one");
}

static void a_number_that_its_column_cannot_hold_is_left(void **state)
{
	struct world *w = *state;
	struct longer_click got;

	assert_true(decode_longer_click(&w->arena, BYTES("\xa8\x06\xff\x01"),
					&got));
	assert_false(decode_longer_click(&w->arena, BYTES("\xa8\x06\x80\x02"),
					 &got));
}

static void a_number_between_those_of_the_message_is_unknown(void **state)
{
	struct world *w = *state;
	struct longer_click got;

	assert_true(
		decode_longer_click(&w->arena, BYTES("\xa0\x06\x01"), &got));
	assert_false(
		decode_longer_click(&w->arena, BYTES("\xa0\x06\x80"), &got));
}

static void a_type_that_is_not_handled_is_left_to_protobuf_c(void **state)
{
	struct world *w = *state;
	struct longer_click got;

	assert_false(
		decode_longer_click(&w->arena, BYTES("\xd8\x06\x01"), &got));
	assert_false(
		decode_longer_click(&w->arena, BYTES("\xe2\x06\x00"), &got));
}

/* --- lists ------------------------------------------------------------------
 */

/* Puts a cookie of two bytes `count` times. */
static size_t put_cookies(uint8_t *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memcpy(out + 5 * i, "\x9a\x01\x02\x0a", 5);
	return 5 * count;
}

static void more_cookies_than_are_recorded_are_not_usual(void **state)
{
	struct world *w = *state;
	uint8_t event[PACKED_MAX];

	assert_true(decode_and_compare_click(w, event, put_cookies(event, 8)));
	assert_false(decode_and_compare_click(w, event, put_cookies(event, 9)));
}

static void more_tags_than_a_link_has_are_not_usual(void **state)
{
	struct world *w = *state;
	uint8_t event[PACKED_MAX];

	for (size_t i = 0; i < 33; i++)
		memcpy(event + 3 * i, "\x52\x01t", 3);
	assert_true(decode_and_compare_click(w, event, 3 * 32));
	assert_false(decode_and_compare_click(w, event, 3 * 33));
}

/* xorshift, George Marsaglia. */
static uint64_t next_random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Bytes are changed, cut and doubled: whatever our decoder accepts, protobuf-c
 * decodes to the same. */
static void broken_clicks_are_never_decoded_otherwise(void **state)
{
	struct world *w = *state;
	uint8_t whole[PACKED_MAX], event[2 * PACKED_MAX];
	uint64_t random = 88172645463325252U;
	size_t len = pack_click(whole, true), decoded = 0;

	for (int i = 0; i < TRIES; i++) {
		size_t n = len;

		memcpy(event, whole, len);
		for (uint64_t k = next_random_number(&random) % 4; k > 0; k--)
			event[next_random_number(&random) % len] =
				(uint8_t)next_random_number(&random);
		if (next_random_number(&random) % 4 == 0)
			n = next_random_number(&random) % len;
		if (next_random_number(&random) % 4 == 0) {
			memcpy(event + n, whole, len);
			n += len;
		}
		decoded += decode_and_compare_click(w, event, n);
	}
	assert_true(decoded > TRIES / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_usual_click_is_what_protobuf_c_makes_of_it),
		cmocka_unit_test(what_is_not_usual_is_left_to_protobuf_c),
		cmocka_unit_test(the_greatest_number_of_each_size_is_usual),
		cmocka_unit_test(an_unknown_field_of_each_wire_type_is_skipped),
		cmocka_unit_test(a_damaged_unknown_field_is_left_to_protobuf_c),
		cmocka_unit_test(a_field_that_the_message_gets_is_decoded),
		cmocka_unit_test(a_number_that_its_column_cannot_hold_is_left),
		cmocka_unit_test(
			a_number_between_those_of_the_message_is_unknown),
		cmocka_unit_test(
			a_type_that_is_not_handled_is_left_to_protobuf_c),
		cmocka_unit_test(more_cookies_than_are_recorded_are_not_usual),
		cmocka_unit_test(more_tags_than_a_link_has_are_not_usual),
		cmocka_unit_test(broken_clicks_are_never_decoded_otherwise),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
