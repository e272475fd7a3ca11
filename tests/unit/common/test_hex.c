#include "tests/unit/unit.h"

#include <string.h>

#include "common/buf.h"
#include "common/hex.h"

static void two_digits_are_a_byte(void **state)
{
	(void)state;
	assert_int_equal(hex_byte("00", 2), 0);
	assert_int_equal(hex_byte("fFrest", 6), 255);
	assert_int_equal(hex_byte("4a", 2), 0x4a);
}

static void what_is_no_byte_is_refused(void **state)
{
	(void)state;
	assert_int_equal(hex_byte("g0", 2), -1);
	assert_int_equal(hex_byte("0g", 2), -1);
	assert_int_equal(hex_byte("00", 1), -1);
	assert_int_equal(hex_byte("", 0), -1);
	/* A text may end early: its NUL is no digit. */
	assert_int_equal(hex_byte("0", 2), -1);
	assert_int_equal(hex_byte("", 2), -1);
}

static void a_buffer_takes_digits(void **state)
{
	static const unsigned char bytes[] = {0, 0x0f, 0xa0, 0xff};
	struct buf b = {0};

	(void)state;
	buf_puts(&b, "x");
	buf_put_hex(&b, bytes, sizeof(bytes));
	buf_put_hex(&b, bytes, 0);
	assert_string_equal(buf_cstr(&b), "x000fa0ff");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_digits_are_a_byte),
		cmocka_unit_test(what_is_no_byte_is_refused),
		cmocka_unit_test(a_buffer_takes_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
