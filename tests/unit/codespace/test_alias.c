/* The names that users may give a link. */
#include "tests/unit/unit.h"

#include <string.h>

#include "codespace/alias.h"

static bool is_accepted(const char *alias, struct error *err)
{
	return alias_check(alias, strlen(alias), err) == 0;
}

static void names_of_1_to_64_symbols_are_aliases(void **state)
{
	char name[66];
	struct error err;

	(void)state;
	memset(name, 'x', sizeof(name));
	assert_int_equal(alias_check(name, 1, &err), 0);
	assert_int_equal(alias_check(name, 64, &err), 0);
	assert_int_equal(alias_check(name, 65, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_int_equal(alias_check(name, 0, &err), -1);
	assert_true(is_accepted("Summer-Sale_2027", &err));
	assert_true(is_accepted("-_-", &err));
}

static void every_other_byte_is_refused_by_its_place(void **state)
{
	static const char symbols[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"
				      "efghijklmnopqrstuvwxyz_-";
	char name[] = "abcd";
	struct error err;

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		bool good = byte && strchr(symbols, byte);

		name[2] = (char)byte;
		assert_int_equal(alias_check(name, 4, &err), good ? 0 : -1);
		if (!good)
			assert_non_null(strstr(err.text, "byte 3 is 0x"));
	}
}

static bool is_reserved(const char *alias)
{
	static const char *const more[] = {"acme", "Press-Room"};

	return alias_is_reserved(alias, strlen(alias), more, 2);
}

static void words_of_the_site_are_reserved_in_any_case(void **state)
{
	(void)state;
	assert_true(is_reserved("api"));
	assert_true(is_reserved("API"));
	assert_true(is_reserved("Robots"));
	assert_true(is_reserved("www"));
	assert_true(is_reserved("admin"));
	assert_false(is_reserved("ap"));
	assert_false(is_reserved("apis"));
	assert_false(is_reserved("sale"));
}

static void the_operators_words_are_reserved_too(void **state)
{
	(void)state;
	assert_true(is_reserved("Acme"));
	assert_true(is_reserved("press-room"));
	assert_false(alias_is_reserved("acme", 4, NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_1_to_64_symbols_are_aliases),
		cmocka_unit_test(every_other_byte_is_refused_by_its_place),
		cmocka_unit_test(words_of_the_site_are_reserved_in_any_case),
		cmocka_unit_test(the_operators_words_are_reserved_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
