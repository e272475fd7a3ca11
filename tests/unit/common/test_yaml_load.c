#include "tests/unit/unit.h"

#include <string.h>

#include "common/yaml_load.h"

/* Repeats `unit` until the text has 100 kB; libyaml needed more than twenty
 * seconds for such a text where it is quadratic. */
static char *repeat_unit(const char *head, const char *unit, size_t *ret_len)
{
	size_t before = strlen(head), each = strlen(unit);
	size_t times = 120000 / each + 1;
	char *text = malloc(before + times * each + 1);

	assert_non_null(text);
	memcpy(text, head, before);
	for (size_t i = 0; i < times; i++)
		memcpy(text + before + i * each, unit, each);
	*ret_len = before + times * each;
	return text;
}

static void expect_refused(const char *head, const char *unit, const char *says,
			   size_t line)
{
	struct yaml_place place = {0};
	struct error err = {0};
	yaml_document_t doc;
	size_t len;
	char *text = repeat_unit(head, unit, &len);

	assert_int_equal(yaml_load(text, len, 10, &doc, &place, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("'%s' is not in '%s'", says, err.text);
	assert_int_equal(place.line, line);
	free(text);
}

static void what_nests_too_deep_is_refused(void **state)
{
	static const char *const units[] = {"[",  "{",	  "- ",
					    "? ", "{a: ", "[{a: "};

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		expect_refused("# a comment\n", units[i],
			       "more than 64 lists and mappings within each "
			       "other",
			       2);
}

static void many_anchors_and_directives_are_refused(void **state)
{
	(void)state;
	expect_refused("", "- &a x\n", "too many anchors and aliases", 11);
	expect_refused("- &a x\n", "- *a\n", "too many anchors and aliases",
		       11);
	expect_refused("", "- &a []\n", "too many anchors and aliases", 11);
	expect_refused("", "- &a {}\n", "too many anchors and aliases", 11);
	expect_refused("", "%TAG !a! x\n", "too many %TAG directives", 17);
	expect_refused("a\n", "---\na\n", "a second document", 3);
}

static int load_document(const char *text, size_t anchors, struct error *err)
{
	struct yaml_place place;
	yaml_document_t doc;

	if (yaml_load(text, strlen(text), anchors, &doc, &place, err) < 0)
		return -1;
	yaml_document_delete(&doc);
	return 0;
}

static void what_is_within_the_bounds_is_taken(void **state)
{
	char deep[2 * YAML_DEPTH_MAX + 1];
	struct error err = {0};

	(void)state;
	memset(deep, '[', YAML_DEPTH_MAX);
	memset(deep + YAML_DEPTH_MAX, ']', YAML_DEPTH_MAX);
	deep[2 * YAML_DEPTH_MAX] = '\0';
	assert_int_equal(load_document(deep, 0, &err), 0);
	assert_int_equal(load_document("a: &x [1]\nb: *x\n", 2, &err), 0);
	assert_int_equal(
		load_document("%TAG ! tag:x,2026:\n---\na: !b c\n", 0, &err),
		0);
	assert_int_equal(load_document("\xef\xbb\xbf"
				       "a: b\n",
				       0, &err),
			 0);
	assert_int_equal(load_document("", 0, &err), 0);
	assert_int_equal(load_document("[a]\n---\n", 0, &err), -1);
}

static void without_anchors_there_are_no_aliases(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(load_document("a: &x [1]\n", 0, &err), -1);
	assert_string_equal(err.text, "anchors and aliases are not taken");
	assert_int_equal(load_document("a: *x\n", 0, &err), -1);
}

static void what_is_no_text_is_refused(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(load_document("a: \xff\n", 0, &err), -1);
	assert_int_equal(load_document("a: \x01\n", 0, &err), -1);
	/* Directives would not be found in UTF-16. */
	assert_int_equal(load_document("\xff\xfe%T", 0, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nests_too_deep_is_refused),
		cmocka_unit_test(many_anchors_and_directives_are_refused),
		cmocka_unit_test(what_is_within_the_bounds_is_taken),
		cmocka_unit_test(without_anchors_there_are_no_aliases),
		cmocka_unit_test(what_is_no_text_is_refused),
	};

	return cmocka_run_group_tests_name("yaml_load", tests, NULL, NULL);
}
