#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "redirector/visit/access_line.h"
#include "tests/unit/unit.h"

#define SLICE(text)                                                            \
	{                                                                      \
		text, sizeof(text) - 1                                         \
	}

#define AT INT64_C(1431857103456) /* 2015-05-17 10:05:03.456 UTC */

static struct access_entry make_access_entry(void)
{
	return (struct access_entry){
		.time_ms = AT,
		.client = {4, {192, 0, 2, 7}},
		.status = 302,
		.method = SLICE("GET"),
		.path = SLICE("/aB3xY7k"),
		.query = SLICE("a=1&b=%20"),
		.minor_version = 1,
		.host = SLICE("sho.rt"),
		.referrer = SLICE("https://from.example/"),
		.user_agent = SLICE("agent/1.0"),
		.accept_language = SLICE("de-AT"),
		.prefetch = SLICE("prefetch"),
	};
}

static const char *combined_line_of(const struct access_entry *e)
{
	static struct buf out;

	buf_reset(&out);
	access_line_put_combined(&out, e);
	return buf_cstr(&out);
}

static json_t *json_line_of(const struct access_entry *e)
{
	struct buf out = {0};
	json_error_t why;
	json_t *line;

	access_line_put_json(&out, e);
	assert_int_equal(out.data[out.len - 1], '\n');
	/* The output must be one line, in UTF-8 that a strict parser accepts.
	 */
	assert_ptr_equal(memchr(out.data, '\n', out.len),
			 out.data + out.len - 1);
	line = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, &why);
	if (!line)
		fail_msg("%s: %.*s", why.text, (int)out.len, out.data);
	buf_free(&out);
	return line;
}

static void assert_member(const json_t *line, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(line, key));

	if (text)
		assert_non_null(value);
	assert_true(text ? !strcmp(value, text) : !value);
}

static void a_combined_line_is_as_other_servers_write_it(void **state)
{
	struct access_entry e = make_access_entry();

	(void)state;
	assert_string_equal(combined_line_of(&e),
			    "192.0.2.7 - - [17/May/2015:10:05:03 +0000] "
			    "\"GET /aB3xY7k?a=1&b=%20 HTTP/1.1\" 302 0 "
			    "\"https://from.example/\" \"agent/1.0\"\n");
}

static void what_is_absent_is_a_dash(void **state)
{
	struct access_entry e = {.time_ms = 0,
				 .status = 404,
				 .body_bytes = 17,
				 .method = SLICE("HEAD"),
				 .path = SLICE("/")};

	(void)state;
	assert_string_equal(combined_line_of(&e),
			    "- - - [01/Jan/1970:00:00:00 +0000] "
			    "\"HEAD / HTTP/1.0\" 404 17 \"-\" \"-\"\n");
}

static void an_empty_query_has_its_question_mark(void **state)
{
	struct access_entry e = make_access_entry();

	(void)state;
	e.query.len = 0;
	assert_non_null(
		strstr(combined_line_of(&e), "\"GET /aB3xY7k? HTTP/1.1\""));
}

static void ipv6_addresses_are_written_in_short(void **state)
{
	struct access_entry e = make_access_entry();

	(void)state;
	e.client = (struct address){16, {0x20, 0x01, 0x0d, 0xb8, [15] = 7}};
	assert_int_equal(strncmp(combined_line_of(&e), "2001:db8::7 - - [", 17),
			 0);
}

#define HOSTILE "\"\\\n\r\t\x01\x7f\xff\xc3\xa4\" 200 0 \"x"

static void no_byte_ends_a_combined_field(void **state)
{
	struct access_entry e = make_access_entry();

	(void)state;
	e.user_agent = (struct http_slice)SLICE(HOSTILE);
	assert_string_equal(
		combined_line_of(&e),
		"192.0.2.7 - - [17/May/2015:10:05:03 +0000] "
		"\"GET /aB3xY7k?a=1&b=%20 HTTP/1.1\" 302 0 "
		"\"https://from.example/\" "
		"\"\\x22\\x5C\\x0A\\x0D\\x09\\x01\\x7F\\xFF\\xC3\\xA4\\x22 200 "
		"0 \\x22x\"\n");
}

/* Returns the byte of "\xNN". */
static unsigned byte_of(const char *escape)
{
	char hex[3] = {escape[2], escape[3], '\0'};

	assert_int_equal(escape[1], 'x');
	return (unsigned)strtoul(hex, NULL, 16);
}

static void every_byte_can_be_told_from_a_combined_line(void **state)
{
	struct access_entry e = make_access_entry();
	char all[256], *end, *at;
	size_t i = 0;

	(void)state;
	for (i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	e.user_agent = (struct http_slice){all, sizeof(all)};
	at = strstr(combined_line_of(&e), "example/\" \"") +
	     strlen("example/\" \"");
	end = strchr(at, '"');
	assert_string_equal(end, "\"\n");
	for (i = 0; at < end; i++) {
		unsigned byte = (unsigned char)*at;

		if (*at == '\\')
			byte = byte_of(at);
		assert_int_equal(byte, i);
		at += *at == '\\' ? 4 : 1;
	}
	assert_int_equal(i, sizeof(all));
}

static void a_json_line_has_the_names_of_nginx(void **state)
{
	struct access_entry e = make_access_entry();
	json_t *line = json_line_of(&e);

	(void)state;
	assert_member(line, "time_iso8601", "2015-05-17T10:05:03.456Z");
	assert_member(line, "remote_addr", "192.0.2.7");
	assert_member(line, "request_method", "GET");
	assert_member(line, "uri", "/aB3xY7k");
	assert_member(line, "args", "a=1&b=%20");
	assert_member(line, "server_protocol", "HTTP/1.1");
	assert_int_equal(json_integer_value(json_object_get(line, "status")),
			 302);
	assert_member(line, "http_host", "sho.rt");
	assert_member(line, "http_referer", "https://from.example/");
	assert_member(line, "http_user_agent", "agent/1.0");
	assert_member(line, "http_accept_language", "de-AT");
	assert_member(line, "http_sec_purpose", "prefetch");
	json_decref(line);
}

static void what_is_absent_is_no_member(void **state)
{
	struct access_entry e = {.method = SLICE("GET"), .path = SLICE("/a")};
	json_t *line = json_line_of(&e);

	(void)state;
	assert_member(line, "remote_addr", "-");
	assert_member(line, "http_host", NULL);
	assert_member(line, "http_referer", NULL);
	assert_member(line, "args", NULL);
	json_decref(line);
}

static void json_is_strict_whatever_a_client_sends(void **state)
{
	struct access_entry e = make_access_entry();
	json_t *line;

	(void)state;
	e.user_agent = (struct http_slice)SLICE(HOSTILE);
	e.path = (struct http_slice)SLICE("/\"\xed\xa0\x80");
	line = json_line_of(&e);
	assert_member(line, "http_user_agent",
		      "\"\\\n\r\t\x01\x7f?\xc3\xa4\" 200 0 \"x");
	assert_member(line, "uri", "/\"???");
	json_decref(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_combined_line_is_as_other_servers_write_it),
		cmocka_unit_test(what_is_absent_is_a_dash),
		cmocka_unit_test(an_empty_query_has_its_question_mark),
		cmocka_unit_test(ipv6_addresses_are_written_in_short),
		cmocka_unit_test(no_byte_ends_a_combined_field),
		cmocka_unit_test(every_byte_can_be_told_from_a_combined_line),
		cmocka_unit_test(a_json_line_has_the_names_of_nginx),
		cmocka_unit_test(what_is_absent_is_no_member),
		cmocka_unit_test(json_is_strict_whatever_a_client_sends),
	};

	return cmocka_run_group_tests_name("access_line", tests, NULL, NULL);
}
