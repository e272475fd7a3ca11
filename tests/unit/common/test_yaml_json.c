#include "tests/unit/unit.h"

#include "common/yaml_json.h"

#include <jansson.h>

static void expect_json(const char *yaml, const char *json)
{
	struct buf out = {0};
	struct error err = {0};
	json_t *is, *wanted = json_loads(json, JSON_DECODE_ANY, NULL);

	assert_int_equal(yaml_to_json(yaml, &out, &err), 0);
	is = json_loadb(out.data, out.len, JSON_DECODE_ANY, NULL);
	assert_non_null(is);
	assert_true(json_equal(is, wanted));
	json_decref(is);
	json_decref(wanted);
	buf_free(&out);
}

static void both_notations_nest(void **state)
{
	(void)state;
	expect_json("a:\n  - {b: c, d: [e]}\n  - f\n",
		    "{\"a\":[{\"b\":\"c\",\"d\":[\"e\"]},\"f\"]}");
	expect_json("a: >-\n  two\n  lines\nb: |\n  x\n  y\n",
		    "{\"a\":\"two lines\",\"b\":\"x\\ny\\n\"}");
}

static void only_plain_words_are_more_than_text(void **state)
{
	(void)state;
	expect_json("[1, -7, true, false, null, x1]",
		    "[1,-7,true,false,null,\"x1\"]");
	expect_json("['1', \"true\", 'null', '']",
		    "[\"1\",\"true\",\"null\",\"\"]");
	expect_json("{'200': {default: false}}",
		    "{\"200\":{\"default\":false}}");
}

static void what_is_no_yaml_is_refused(void **state)
{
	static const char *const bad[] = {"a: [", "{a: b", "a: *b"};
	struct buf out = {0};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(yaml_to_json(bad[i], &out, &err), -1);
	buf_free(&out);
}

static void nothing_but_comments_is_null(void **state)
{
	(void)state;
	expect_json("", "null");
	expect_json("# - a\n", "null");
	expect_json("---\n...\n", "null");
	expect_json("---\n[a]\n...\n", "[\"a\"]");
}

static void what_would_be_left_out_is_refused(void **state)
{
	static const struct {
		const char *yaml, *says;
	} cases[] = {
		{"- a: 1\n  b: 2\n  a: 3\n", "line 3: a: given twice"},
		{"{a: {b: 1, 'b': 1}}", "line 1: b: given twice"},
		{"[a]\n---\n[b]\n", "line 3: a second document"},
		{"[a]\n---\n[b\n", "line 3: a second document"},
		{"[a]\n[b\n", "line 2: "},
	};
	struct buf out = {0};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(yaml_to_json(cases[i].yaml, &out, &err), -1);
		assert_non_null(strstr(err.text, cases[i].says));
	}
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_notations_nest),
		cmocka_unit_test(only_plain_words_are_more_than_text),
		cmocka_unit_test(what_is_no_yaml_is_refused),
		cmocka_unit_test(nothing_but_comments_is_null),
		cmocka_unit_test(what_would_be_left_out_is_refused),
	};

	return cmocka_run_group_tests_name("yaml_json", tests, NULL, NULL);
}
