#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "common/json_read.h"

static void assert_refused_with(const char *text, size_t len, const char *words)
{
	struct json_doc doc;
	struct error err = {0};

	assert_int_equal(json_doc_read(&doc, text, len, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, words))
		fail_msg("%.60s: '%s' lacks '%s'", text, err.text, words);
	json_doc_free(&doc);
}

static void assert_refused(const char *text, const char *words)
{
	assert_refused_with(text, strlen(text), words);
}

/* The one value of [value]. */
static const struct json_value *only(struct json_doc *doc, const char *text)
{
	struct error err = {0};

	if (json_doc_read(doc, text, strlen(text), &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(doc->values->kind, JSON_KIND_ARRAY);
	assert_int_equal(doc->values->count, 1);
	assert_null(json_doc_next(doc, json_doc_first(doc, doc->values)));
	return json_doc_first(doc, doc->values);
}

static void assert_string(const char *json, const char *expected)
{
	struct json_doc doc;
	const struct json_value *v = only(&doc, json);

	assert_int_equal(v->kind, JSON_KIND_STRING);
	assert_string_equal(v->string.text, expected);
	assert_int_equal(v->string.len, strlen(expected));
	json_doc_free(&doc);
}

static void assert_number(const char *json, double expected)
{
	struct json_doc doc;
	const struct json_value *v = only(&doc, json);

	assert_int_equal(v->kind, JSON_KIND_NUMBER);
	assert_true(v->number == expected);
	json_doc_free(&doc);
}

static void assert_kind(const char *json, enum json_kind kind)
{
	struct json_doc doc;

	assert_int_equal(only(&doc, json)->kind, kind);
	json_doc_free(&doc);
}

static void values_of_every_kind_are_read(void **state)
{
	(void)state;
	assert_kind("[null]", JSON_KIND_NULL);
	assert_kind("[true]", JSON_KIND_TRUE);
	assert_kind(" [ false ] ", JSON_KIND_FALSE);
	assert_kind("[[]]", JSON_KIND_ARRAY);
	assert_kind("[{}]", JSON_KIND_OBJECT);
	assert_number("[0]", 0);
	assert_number("[-12.5e+1]", -125);
	assert_number("[9007199254740991]", 9007199254740991.0);
	assert_string("[\"\"]", "");
	assert_string("[\"a b\"]", "a b");
}

static void members_and_elements_keep_their_order(void **state)
{
	static const char text[] = "{\"a\":[1,[2],{\"b\":3}],\n\t\"c\":\"d\"}";
	const struct json_value *v, *e;
	struct json_doc doc;
	struct error err;

	(void)state;
	assert_int_equal(json_doc_read(&doc, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(doc.values->count, 2);
	v = json_doc_first(&doc, doc.values);
	assert_string_equal(v->name, "a");
	assert_int_equal(v->count, 3);
	e = json_doc_first(&doc, v);
	assert_null(e->name);
	assert_true(e->number == 1);
	e = json_doc_next(&doc, e);
	assert_int_equal(e->kind, JSON_KIND_ARRAY);
	e = json_doc_next(&doc, e);
	assert_string_equal(json_doc_first(&doc, e)->name, "b");
	assert_null(json_doc_next(&doc, e));
	v = json_doc_next(&doc, v);
	assert_string_equal(v->name, "c");
	assert_string_equal(v->string.text, "d");
	assert_null(json_doc_first(&doc, v));
	assert_null(json_doc_next(&doc, v));
	json_doc_free(&doc);
}

static void escapes_are_decoded(void **state)
{
	(void)state;
	assert_string("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "\"\\/\b\f\n\r\t");
	assert_string("[\"x\\u0041y\\u00e4z\\u20AC\"]",
		      "xAy\xc3\xa4z\xe2\x82\xac");
	assert_string("[\"\\ud83d\\uDE00!\"]", "\xf0\x9f\x98\x80!");
	assert_string("[\"\xc3\xa4\\n\xf0\x9f\x98\x80\"]",
		      "\xc3\xa4\n\xf0\x9f\x98\x80");
}

static void what_is_no_json_is_refused_with_its_place(void **state)
{
	(void)state;
	assert_refused("", "column 1: '{' expected");
	assert_refused("3", "'{' expected");
	assert_refused("{", "a name in quotes expected");
	assert_refused("{\"a\":1,}", "column 8: a name in quotes");
	assert_refused("[1,]", "a value expected");
	assert_refused("[1 2]", "',' or ']' expected");
	assert_refused("{\"a\" 1}", "':' expected");
	assert_refused("{\"a\":1\n \"b\":2}", "line 2, column 2: ',' or '}'");
	assert_refused("{} {}", "column 4: nothing more expected");
	assert_refused("[tru]", "a value expected");
	assert_refused("[01]", "',' or ']' expected");
	assert_refused("[-]", "a digit expected");
	assert_refused("[1.]", "a digit expected");
	assert_refused("[1e]", "a digit expected");
	assert_refused("[+1]", "a value expected");
	assert_refused("\xef\xbb\xbf{}", "'{' expected");
	assert_refused("{\"a\":1,\"b\":2,\"a\":3}", "for the second time");
	assert_refused("{\"a\":1,\"\\u0061\":3}", "for the second time");
}

static void bad_strings_are_refused(void **state)
{
	(void)state;
	assert_refused("[\"a", "has no end");
	assert_refused("[\"a\\", "an escape");
	assert_refused("[\"\\x\"]", "an escape");
	assert_refused("[\"\\u12g4\"]", "hexadecimal");
	assert_refused("[\"\\u12", "hexadecimal");
	assert_refused("[\"a\nb\"]", "control character");
	assert_refused("[\"\\u0000\"]", "\\u0000");
	assert_refused("[\"\\ud83d\"]", "surrogate");
	assert_refused("[\"\\ud83d\\u0041\"]", "surrogate");
	assert_refused("[\"\\ude00\"]", "surrogate");
	assert_refused("[\"\xff\"]", "not UTF-8");
	assert_refused("[\"\xc0\xaf\"]", "not UTF-8");
	assert_refused("[\"\xed\xa0\x80\"]", "not UTF-8");
	assert_refused("[\"\xf0\x9f\x98\"]", "not UTF-8");
	assert_refused_with("[\"a\0b\"]", 7, "control character");
	assert_refused_with("{}\0", 3, "nothing more expected");
	assert_refused_with("\0\0", 2, "'{' expected");
}

static void bounds_hold(void **state)
{
	static char text[4 * JSON_VALUES_MAX];
	struct json_doc doc;
	struct error err;
	int len = 0;

	(void)state;
	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	assert_int_equal(json_doc_read(&doc, text, 2 * JSON_DEPTH_MAX, &err),
			 0);
	json_doc_free(&doc);
	memset(text, '[', JSON_DEPTH_MAX + 1);
	assert_refused(text, "nested too deeply");

	memset(text, 0, sizeof(text));
	for (int i = 0; i <= JSON_MEMBERS_MAX; i++)
		len += sprintf(text + len, "%s\"%d\":0", i ? "," : "{", i);
	assert_refused(text, "too many members");

	memset(text, 0, sizeof(text));
	text[0] = '[';
	for (int i = 0; i < JSON_VALUES_MAX; i++)
		memcpy(text + 1 + 2 * i, "1,", 2);
	assert_refused(text, "too many values");
	memcpy(text + 2 * (JSON_VALUES_MAX - 1), "]", 2);
	assert_int_equal(json_doc_read(&doc, text, strlen(text), &err), 0);
	assert_int_equal(doc.values->count, JSON_VALUES_MAX - 1);
	json_doc_free(&doc);
}

static void what_is_kept_lives_as_long_as_the_document(void **state)
{
	struct json_doc doc;
	struct error err;
	const char *a, *b;

	(void)state;
	assert_int_equal(json_doc_read(&doc, "{}", 2, &err), 0);
	a = json_doc_keep(&doc, "one", 3);
	b = json_doc_keep(&doc, NULL, 0);
	assert_string_equal(a, "one");
	assert_string_equal(b, "");
	json_doc_free(&doc);
	json_doc_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_every_kind_are_read),
		cmocka_unit_test(members_and_elements_keep_their_order),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
		cmocka_unit_test(bad_strings_are_refused),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(what_is_kept_lives_as_long_as_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
