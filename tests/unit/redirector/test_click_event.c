#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "redirector/events/click_event.h"

static const struct click_limits limits = {.user_agent = 16,
					   .referrer = 8,
					   .accept_language = 8,
					   .query = 8,
					   .cookie = 8};

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static struct click_encoder *make_encoder(void)
{
	struct error err;
	struct click_encoder *e = click_encoder_new("edge-1", &limits, &err);

	assert_non_null(e);
	return e;
}

static Shortloop__Click *encode_and_unpack_click(struct click_encoder *e,
						 const struct click *click)
{
	struct http_slice bytes = click_encode(e, click);
	Shortloop__Click *msg = shortloop__click__unpack(
		NULL, bytes.len, (const uint8_t *)bytes.data);

	assert_non_null(msg);
	return msg;
}

static void is_bytes(ProtobufCBinaryData got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	if (got.len)
		assert_memory_equal(got.data, want, got.len);
}

static void a_click_arrives_as_it_was(void **state)
{
	struct click_encoder *e = make_encoder();
	struct click click = {
		.time_ms = 1700000000123,
		.outcome = SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED,
		.status = 302,
		.client = {4, {192, 0, 2, 1}},
		.host = slice_of("Go.Example:8080"),
		.user_agent = slice_of("curl/8"),
		.query = slice_of("a=1"),
		.prefetch = slice_of("prefetch;prerender"),
	};
	Shortloop__Click *msg = encode_and_unpack_click(e, &click);

	(void)state;
	assert_int_equal(msg->time_ms, 1700000000123);
	assert_string_equal(msg->edge, "edge-1");
	assert_string_equal(msg->domain, "go.example");
	assert_int_equal(msg->status, 302);
	assert_int_equal(msg->outcome, 1);
	assert_int_equal(msg->client_ip.len, 4);
	assert_memory_equal(msg->client_ip.data, "\xc0\x00\x02\x01", 4);
	is_bytes(msg->user_agent, "curl/8");
	is_bytes(msg->referrer, "");
	is_bytes(msg->query, "a=1");
	assert_string_equal(msg->prefetch, "prefetch;prerender");
	shortloop__click__free_unpacked(msg, NULL);
	click_encoder_free(e);
}

/* The bytes must equal those of protobuf-c. */
static void the_encoding_is_the_usual_one(void **state)
{
	const struct click_cookie cookies[] = {{"one", slice_of("1")},
					       {"none", slice_of("")}};
	struct click_encoder *e = make_encoder();
	struct click click = {
		.time_ms = INT64_MAX,
		.outcome = SHORTLOOP__OUTCOME__OUTCOME_HEAD,
		.status = 308,
		.client = {16, {0x20, 1, 0xd, 0xb8}},
		.host = slice_of("a"),
		.user_agent = slice_of("0123456789abcdef"),
		.referrer = slice_of("r"),
		.accept_language = slice_of("de"),
		.query = slice_of("q"),
		.prefetch = slice_of("p"),
		.cookies = cookies,
		.cookie_count = 2,
		.trace_id = slice_of("0123456789abcdef"),
		.url_digest = slice_of("fedcba9876543210"),
	};
	struct http_slice bytes = click_encode(e, &click);
	Shortloop__Click *msg = shortloop__click__unpack(
		NULL, bytes.len, (const uint8_t *)bytes.data);
	uint8_t again[1024];

	(void)state;
	assert_non_null(msg);
	assert_int_equal(shortloop__click__get_packed_size(msg), bytes.len);
	shortloop__click__pack(msg, again);
	assert_memory_equal(again, bytes.data, bytes.len);
	shortloop__click__free_unpacked(msg, NULL);
	click_encoder_free(e);
}

static void the_link_part_merges_into_the_click(void **state)
{
	struct click_encoder *e = make_encoder();
	struct buf part = {0};
	char tag1[] = "spring", tag2[] = "mail";
	char *tags[] = {tag1, tag2};
	struct click click = {.status = 302};
	Shortloop__Click *msg;

	(void)state;
	click_link_part(&part,
			&(struct click_link){.code = slice_of("aB3xY7k"),
					     .link_id = UINT64_C(1) << 60,
					     .account = "acme",
					     .owner = "ann",
					     .campaign = "launch",
					     .tags = tags,
					     .tag_count = 2});
	click.link_part = (struct http_slice){part.data, part.len};
	msg = encode_and_unpack_click(e, &click);
	assert_string_equal(msg->code, "aB3xY7k");
	assert_true(msg->link_id == UINT64_C(1) << 60);
	assert_string_equal(msg->account, "acme");
	assert_string_equal(msg->owner, "ann");
	assert_string_equal(msg->campaign, "launch");
	assert_int_equal(msg->n_tags, 2);
	assert_string_equal(msg->tags[1], "mail");
	assert_string_equal(msg->edge, "edge-1");
	shortloop__click__free_unpacked(msg, NULL);
	buf_free(&part);
	click_encoder_free(e);
}

static void ids_count_up_and_differ_between_encoders(void **state)
{
	struct click_encoder *a = make_encoder(), *b = make_encoder();
	struct click click = {.status = 302};
	Shortloop__Click *first = encode_and_unpack_click(a, &click),
			 *second = encode_and_unpack_click(a, &click);
	Shortloop__Click *other = encode_and_unpack_click(b, &click);

	(void)state;
	assert_true(second->event_id == first->event_id + 1);
	assert_true(second->event_id_high == first->event_id_high);
	assert_true(other->event_id_high != first->event_id_high);
	shortloop__click__free_unpacked(first, NULL);
	shortloop__click__free_unpacked(second, NULL);
	shortloop__click__free_unpacked(other, NULL);
	click_encoder_free(a);
	click_encoder_free(b);
}

static void long_text_is_cut_between_characters(void **state)
{
	struct click_encoder *e = make_encoder();
	struct click click = {
		.user_agent = slice_of("0123456789abcdefXYZ"),
		.referrer = slice_of(
			"123456\xe2\x82\xac!"), /* a euro sign has 3 bytes */
		.accept_language =
			slice_of("1234\xf0\x9f\x98\x80!"), /* this text fits */
		.query = slice_of("a=1234%20b"),
	};
	Shortloop__Click *msg = encode_and_unpack_click(e, &click);

	(void)state;
	is_bytes(msg->user_agent, "0123456789abcdef");
	is_bytes(msg->referrer, "123456");
	is_bytes(msg->accept_language, "1234\xf0\x9f\x98\x80");
	is_bytes(msg->query, "a=1234");
	shortloop__click__free_unpacked(msg, NULL);
	click_encoder_free(e);
}

static void cookies_go_by_their_names(void **state)
{
	const struct click_cookie cookies[] = {
		{"id", slice_of("1234567890")},
		{"empty", slice_of("")},
		{"odd", slice_of("a\x01\xff\xc3\xbc%2")},
	};
	struct click_encoder *e = make_encoder();
	struct click click = {.cookies = cookies, .cookie_count = 3};
	Shortloop__Click *msg = encode_and_unpack_click(e, &click);

	(void)state;
	assert_int_equal(msg->n_cookies, 3);
	assert_string_equal(msg->cookies[0]->key, "id");
	assert_string_equal(msg->cookies[0]->value, "12345678");
	assert_string_equal(msg->cookies[1]->key, "empty");
	assert_string_equal(msg->cookies[1]->value, "");
	assert_string_equal(msg->cookies[2]->value, "a????%2");
	assert_int_equal(msg->trace_id.len, 0);
	shortloop__click__free_unpacked(msg, NULL);
	click_encoder_free(e);
}

static void the_largest_click_fits(void **state)
{
	struct error err;
	struct click_limits most = {65536, 65536, 65536, 65536, 4096};
	struct click_encoder *e = click_encoder_new("edge-1", &most, &err);
	char *text = malloc(70000), name[CLICK_COOKIE_NAME_MAX + 1];
	struct http_slice all = {text, 70000};
	struct click_cookie cookies[CLICK_COOKIES_MAX];
	struct click click = {
		.time_ms = INT64_MAX,
		.outcome = SHORTLOOP__OUTCOME__OUTCOME_HEAD,
		.status = INT32_MAX,
		.client = {.len = 16},
		.host = {text, CLICK_DOMAIN_MAX},
		.user_agent = all,
		.referrer = all,
		.accept_language = all,
		.query = all,
		.prefetch = all,
		.cookies = cookies,
		.cookie_count = CLICK_COOKIES_MAX,
		.trace_id = {text, 16},
		.url_digest = {text, 16},
		.link_part = {"", 0},
	};
	Shortloop__Click *msg;

	(void)state;
	memset(text, 'a', 70000);
	memset(name, 'n', CLICK_COOKIE_NAME_MAX);
	name[CLICK_COOKIE_NAME_MAX] = '\0';
	for (size_t i = 0; i < CLICK_COOKIES_MAX; i++)
		cookies[i] = (struct click_cookie){name, all};
	msg = encode_and_unpack_click(e, &click);
	assert_int_equal(msg->query.len, 65536);
	assert_int_equal(strlen(msg->domain), CLICK_DOMAIN_MAX);
	assert_int_equal(strlen(msg->prefetch), CLICK_PREFETCH_MAX);
	assert_int_equal(msg->n_cookies, CLICK_COOKIES_MAX);
	assert_int_equal(strlen(msg->cookies[7]->value), 4096);
	assert_int_equal(msg->trace_id.len, 16);
	assert_int_equal(msg->url_digest.len, 16);
	shortloop__click__free_unpacked(msg, NULL);
	click_encoder_free(e);
	free(text);
}

static void bytes_that_are_no_utf8_are_cut_at_the_limit(void **state)
{
	struct click_encoder *e = make_encoder();
	struct click click = {
		.referrer =
			slice_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80")};
	Shortloop__Click *msg = encode_and_unpack_click(e, &click);

	(void)state;
	assert_int_equal(msg->referrer.len, 8);
	shortloop__click__free_unpacked(msg, NULL);
	click_encoder_free(e);
}

static void a_code_of_any_bytes_becomes_printable(void **state)
{
	struct click_encoder *e = make_encoder();
	struct buf part = {0};
	struct click click = {0};
	Shortloop__Click *msg;
	char code[200];

	(void)state;
	memset(code, 'x', sizeof(code));
	memcpy(code, "a\xff\0b", 4);
	click_link_part(&part,
			&(struct click_link){.code = {code, sizeof(code)}});
	click.link_part = (struct http_slice){part.data, part.len};
	msg = encode_and_unpack_click(e, &click);
	assert_int_equal(strlen(msg->code), CLICK_CODE_MAX);
	assert_memory_equal(msg->code, "a??bx", 5);
	shortloop__click__free_unpacked(msg, NULL);
	buf_free(&part);
	click_encoder_free(e);
}

static void is_domain(const char *host, const char *want)
{
	char out[CLICK_DOMAIN_MAX + 1];

	click_domain(slice_of(host), out);
	assert_string_equal(out, want);
}

static void hosts_become_domains(void **state)
{
	char long_host[CLICK_DOMAIN_MAX + 3];

	(void)state;
	memset(long_host, 'a', sizeof(long_host));
	long_host[sizeof(long_host) - 1] = '\0';
	is_domain("S.example", "s.example");
	is_domain("s.example:80", "s.example");
	is_domain("[::1]:8080", "[::1]");
	is_domain("s.ex ample", "");
	is_domain("s.\xc3\xa4", "");
	is_domain("", "");
	is_domain(long_host, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_click_arrives_as_it_was),
		cmocka_unit_test(the_encoding_is_the_usual_one),
		cmocka_unit_test(the_link_part_merges_into_the_click),
		cmocka_unit_test(ids_count_up_and_differ_between_encoders),
		cmocka_unit_test(long_text_is_cut_between_characters),
		cmocka_unit_test(cookies_go_by_their_names),
		cmocka_unit_test(the_largest_click_fits),
		cmocka_unit_test(bytes_that_are_no_utf8_are_cut_at_the_limit),
		cmocka_unit_test(a_code_of_any_bytes_becomes_printable),
		cmocka_unit_test(hosts_become_domains),
	};

	return cmocka_run_group_tests_name("click_event", tests, NULL, NULL);
}
