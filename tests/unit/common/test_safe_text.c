#include "tests/unit/unit.h"

#include <string.h>

#include "common/safe_text.h"

static void bytes_become_printable(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(safe_text(text, sizeof(text), "a\\\x1b[2J\xff", 7),
			    "a\\\\\\x1b[2J\\xff");
	assert_string_equal(safe_text(text, sizeof(text), "", 0), "");
	assert_string_equal(safe_text(text, sizeof(text), NULL, 0), "");
}

static void long_bytes_are_cut_between_two_of_them(void **state)
{
	char text[10];

	(void)state;
	assert_string_equal(safe_text(text, sizeof(text), "123456789", 9),
			    "123456789");
	assert_string_equal(safe_text(text, sizeof(text), "1234567890", 10),
			    "123456...");
	assert_string_equal(safe_text(text, sizeof(text), "123\x01\x02", 5),
			    "123...");
	for (size_t size = 8; size < 40; size++) {
		char exact[40];

		memset(exact, 'x', sizeof(exact));
		safe_text(exact, size, "\x01\x02\\abc\x03xyz\xff", 11);
		assert_true(strlen(exact) < size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_printable),
		cmocka_unit_test(long_bytes_are_cut_between_two_of_them),
	};

	return cmocka_run_group_tests_name("safe_text", tests, NULL, NULL);
}
