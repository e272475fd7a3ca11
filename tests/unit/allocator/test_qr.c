#include <string.h>

#include "allocator/qr/qr.h"
#include "tests/unit/unit.h"

static struct error refusal_of(size_t text_len, struct qr_options options)
{
	struct buf out = {0};
	struct error err = {0};
	char *text = malloc(text_len + 1);

	assert_non_null(text);
	memset(text, 'a', text_len);
	text[text_len] = '\0';
	if (qr_draw(text, &options, &out, &err) == 0)
		assert_true(out.len > 0);
	buf_free(&out);
	free(text);
	return err;
}

/* ISO/IEC 18004, table 7: the number of bytes in a symbol of version 40. */
static void a_text_as_long_as_the_standard_allows_is_drawn(void **state)
{
	struct qr_options options = qr_options_default;

	(void)state;
	options.level = 'L';
	assert_int_equal(refusal_of(2953, options).code, ERROR_NONE);
	options.level = 'H';
	assert_int_equal(refusal_of(1273, options).code, ERROR_NONE);
}

static void a_longer_text_is_refused_by_name_of_the_level(void **state)
{
	struct qr_options options = qr_options_default;
	struct error err;

	(void)state;
	options.level = 'H';
	err = refusal_of(1274, options);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_non_null(strstr(err.text, "level H"));
}

/* Version 1 has 21 modules: 29 with the margin. */
static void a_png_has_at_least_a_pixel_a_module(void **state)
{
	struct qr_options options = {QR_PNG, 29, 4, 'L'};

	(void)state;
	assert_int_equal(refusal_of(5, options).code, ERROR_NONE);
	options.size = 28;
	assert_non_null(strstr(refusal_of(5, options).text, "29 modules"));
}

static void what_is_not_said_is_the_default(void **state)
{
	struct qr_options options = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(qr_options_parse((struct http_slice){"level=Q", 7},
					  &options, &err),
			 0);
	assert_int_equal(options.size, qr_options_default.size);
	assert_int_equal(options.margin, qr_options_default.margin);
	assert_int_equal(options.format, QR_SVG);
	assert_int_equal(options.level, 'Q');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_text_as_long_as_the_standard_allows_is_drawn),
		cmocka_unit_test(a_longer_text_is_refused_by_name_of_the_level),
		cmocka_unit_test(a_png_has_at_least_a_pixel_a_module),
		cmocka_unit_test(what_is_not_said_is_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
