#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/click_decode.h"

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
	     owner[] = "owner", campaign[] = "c", one[] = "one", two[] = "",
	     agent[] = "Mozilla/5.0", referrer[] = "https://t.co/",
	     language[] = "de", query[] = "a=b", prefetch[] = "prefetch",
	     ip[] = "\x08\x08\x08\x08", trace[] = "0123456789abcdef",
	     key[] = "k", value[] = "v", empty[] = "";
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
	m.trace_id = make_bytes(trace);
	m.n_cookies = 2;
	m.cookies = entries;
	/* A varint of ten bytes is not usual. */
	if (usual)
		m.link_id = UINT64_MAX >> 1;
	assert_true(shortloop__click__get_packed_size(&m) < PACKED_MAX);
	return shortloop__click__pack(&m, out);
}

/* Both are equal when packed again; protobuf-c also keeps unknown fields, which
 * are never decoded here. */
static void assert_same(const Shortloop__Click *ours,
			const Shortloop__Click *theirs)
{
	uint8_t a[2 * PACKED_MAX], b[2 * PACKED_MAX];
	size_t len = shortloop__click__get_packed_size(theirs);

	assert_int_equal(theirs->base.n_unknown_fields, 0);
	assert_int_equal(shortloop__click__get_packed_size(ours), len);
	assert_true(len <= sizeof(a));
	shortloop__click__pack(ours, a);
	shortloop__click__pack(theirs, b);
	assert_memory_equal(a, b, len);
	assert_int_equal(ours->status, theirs->status);
	assert_int_equal(ours->n_tags, theirs->n_tags);
	assert_int_equal(ours->n_cookies, theirs->n_cookies);
}

/* Returns whether our decoder accepted it. */
static bool decode_and_compare_click(struct arena *arena, const uint8_t *event,
				     size_t len)
{
	Shortloop__Click ours, *theirs;
	bool decoded;

	arena_reset(arena);
	decoded = click_decode(arena, event, len, &ours);
	if (!decoded)
		return false;
	theirs = shortloop__click__unpack(NULL, len, event);
	assert_non_null(theirs);
	assert_same(&ours, theirs);
	shortloop__click__free_unpacked(theirs, NULL);
	return true;
}

static void the_usual_click_is_what_protobuf_c_makes_of_it(void **state)
{
	struct arena arena = {0};
	uint8_t event[PACKED_MAX];

	(void)state;
	assert_true(decode_and_compare_click(&arena, event,
					     pack_click(event, true)));
	assert_true(decode_and_compare_click(&arena, event, 0));
	arena_free(&arena);
}

static void what_is_not_usual_is_left_to_protobuf_c(void **state)
{
	static const char *const others[] = {
		"\xa8\x06\x01",			 /* field 101 */
		"\x18",				 /* cut off */
		"\x1a\x01x",			 /* a time that is text */
		"\x0b",				 /* a group */
		"\x22\x05x",			 /* longer than the message */
		"\xff\xff\xff\xff",		 /* no key */
		"\x98\x80\x80\x80\x80\x01\x01",	 /* a key of six bytes */
		"\x22\x81\x80\x80\x80\x80\x01x", /* a length of six */
		"\x9a\x01\x02\x08\x01",	 /* the name of a cookie is a number */
		"\x9a\x01\x03\x1a\x01x", /* it has a third field */
		"\x9a\x01\x02\x0a\x01",	 /* the cookie ends before its name */
	};
	struct arena arena = {0};
	uint8_t event[PACKED_MAX];

	(void)state;
	assert_false(decode_and_compare_click(&arena, event,
					      pack_click(event, false)));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(decode_and_compare_click(
			&arena, (const uint8_t *)others[i], strlen(others[i])));
	arena_free(&arena);
}

static void the_greatest_number_of_each_size_is_usual(void **state)
{
	struct arena arena = {0};
	uint8_t event[PACKED_MAX];
	Shortloop__Click m;
	size_t len;

	(void)state;
	shortloop__click__init(&m);
	m.event_id = UINT64_MAX;
	m.status = UINT16_MAX;
	m.outcome = (Shortloop__Outcome)INT32_MAX;
	len = shortloop__click__pack(&m, event);
	assert_true(decode_and_compare_click(&arena, event, len));
	/* The three bytes of the status can hold a greater value. */
	m.outcome = SHORTLOOP__OUTCOME__OUTCOME_UNSPECIFIED;
	len = shortloop__click__pack(&m, event);
	assert_int_equal(event[len - 1], 0x03);
	event[len - 1] = 0x07;
	assert_false(decode_and_compare_click(&arena, event, len));
	arena_free(&arena);
}

/* Puts a cookie of two bytes `count` times. */
static size_t put_cookies(uint8_t *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memcpy(out + 5 * i, "\x9a\x01\x02\x0a", 5);
	return 5 * count;
}

static void more_cookies_than_are_recorded_are_not_usual(void **state)
{
	struct arena arena = {0};
	uint8_t event[PACKED_MAX];

	(void)state;
	assert_true(
		decode_and_compare_click(&arena, event, put_cookies(event, 8)));
	assert_false(
		decode_and_compare_click(&arena, event, put_cookies(event, 9)));
	arena_free(&arena);
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
	struct arena arena = {0};
	uint8_t whole[PACKED_MAX], event[2 * PACKED_MAX];
	uint64_t random = 88172645463325252U;
	size_t len = pack_click(whole, true), decoded = 0;

	(void)state;
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
		decoded += decode_and_compare_click(&arena, event, n);
	}
	assert_true(decoded > TRIES / 10);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_usual_click_is_what_protobuf_c_makes_of_it),
		cmocka_unit_test(what_is_not_usual_is_left_to_protobuf_c),
		cmocka_unit_test(the_greatest_number_of_each_size_is_usual),
		cmocka_unit_test(more_cookies_than_are_recorded_are_not_usual),
		cmocka_unit_test(broken_clicks_are_never_decoded_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
