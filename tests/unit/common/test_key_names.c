/* Lists of names in the keys file. */
#include "tests/unit/unit.h"

#include <string.h>

#include "common/keys/key_names.h"

static struct key_names *parse_names(const char *text)
{
	struct error err = {0};
	struct key_names *names = key_names_parse(text, &err);

	if (!names)
		fail_msg("%s: %s", text, err.text);
	return names;
}

static void assert_refused(const char *text, const char *says)
{
	struct error err = {0};

	assert_null(key_names_parse(text, &err));
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("%s: %s", text, err.text);
}

/* Compares the names in `text`, each in brackets. */
static void assert_names(const char *text, const char *expected)
{
	struct key_names *names = parse_names(text);
	const char *name = NULL;
	char found[256] = "";

	while ((name = key_names_next(names, name))) {
		strcat(found, "[");
		strcat(found, name);
		strcat(found, "]");
		assert_true(key_names_have(names, name));
	}
	assert_string_equal(found, expected);
	key_names_free(names);
}

static void names_are_separated_by_commas(void **state)
{
	(void)state;
	assert_names("ann", "[ann]");
	assert_names("ann,bob", "[ann][bob]");
	assert_names("", "[]");
	assert_names(",ann", "[][ann]");
	assert_names("ann,", "[ann][]");
}

static void any_byte_that_prints_may_be_escaped(void **state)
{
	(void)state;
	assert_names("a%2Cb,%20%25%23", "[a,b][ %#]");
	assert_names("%c3%A9", "[\xc3\xa9]");
	assert_refused("%1f", "expected %XX");
	assert_refused("%00", "expected %XX");
	assert_refused("a%2", "expected %XX");
	assert_refused("a%", "expected %XX");
	assert_refused("a%2g", "expected %XX");
	assert_refused("a%g2", "expected %XX");
}

/* Returns `text` this many times, separated by `by`. */
static char *repeat_text(const char *text, const char *by, size_t times)
{
	char *all = calloc(times, strlen(text) + strlen(by) + 1);

	assert_non_null(all);
	for (size_t i = 0; i < times; i++) {
		strcat(all, i > 0 ? by : "");
		strcat(all, text);
	}
	return all;
}

static void a_name_and_a_list_are_only_so_long(void **state)
{
	static const struct {
		const char *text, *by, *says;
		size_t most;
	} cases[] = {
		{"x", "", "names of at most 128 bytes", KEY_LISTED_NAME_MAX},
		{"%2C", "", "names of at most 128 bytes", KEY_LISTED_NAME_MAX},
		{"x", ",", "expected at most 256 names", KEY_NAMES_MAX},
	};
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		text = repeat_text(cases[i].text, cases[i].by, cases[i].most);
		key_names_free(parse_names(text));
		free(text);
		text = repeat_text(cases[i].text, cases[i].by,
				   cases[i].most + 1);
		assert_refused(text, cases[i].says);
		free(text);
	}
	/* The longest name may follow others. */
	text = repeat_text("x", "", KEY_LISTED_NAME_MAX + 4);
	text[3] = ',';
	key_names_free(parse_names(text));
	free(text);
}

static void a_list_has_its_whole_names(void **state)
{
	struct key_names *names = parse_names("ann,bob");

	(void)state;
	assert_true(key_names_have(names, "bob"));
	assert_false(key_names_have(names, "bo"));
	assert_false(key_names_have(names, "ob"));
	assert_false(key_names_have(names, ""));
	assert_false(key_names_have(names, "bobb"));
	key_names_free(names);
	assert_true(key_names_have(NULL, "anybody"));
}

static void lists_are_equal_that_have_the_same_names(void **state)
{
	static const char *const texts[] = {"ann", "ann,bob", "ann,bo",
					    "bob,ann", ""};
	struct key_names *a, *b;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		a = parse_names(texts[i]);
		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
			b = parse_names(texts[k]);
			assert_int_equal(key_names_equal(a, b), i == k);
			key_names_free(b);
		}
		assert_false(key_names_equal(a, NULL));
		assert_false(key_names_equal(NULL, a));
		key_names_free(a);
	}
	assert_true(key_names_equal(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_separated_by_commas),
		cmocka_unit_test(any_byte_that_prints_may_be_escaped),
		cmocka_unit_test(a_name_and_a_list_are_only_so_long),
		cmocka_unit_test(a_list_has_its_whole_names),
		cmocka_unit_test(lists_are_equal_that_have_the_same_names),
	};

	return cmocka_run_group_tests_name("key_names", tests, NULL, NULL);
}
