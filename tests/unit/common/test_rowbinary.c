#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clickhouse/rowbinary.h"

static void assert_bytes(struct buf *b, const char *expected, size_t len)
{
	assert_false(b->failed);
	assert_int_equal(b->len, len);
	assert_memory_equal(b->data, expected, len);
	buf_free(b);
}

static void integers_are_little_endian(void **state)
{
	struct buf b = {0};

	(void)state;
	rowbinary_u8(&b, 0xff);
	rowbinary_u16(&b, 0x0102);
	rowbinary_u32(&b, 0x01020304);
	rowbinary_u64(&b, UINT64_C(0x0102030405060708));
	assert_bytes(&b,
		     "\xff\x02\x01\x04\x03\x02\x01"
		     "\x08\x07\x06\x05\x04\x03\x02\x01",
		     15);
}

static void a_negative_number_is_twos_complement(void **state)
{
	struct buf b = {0};

	(void)state;
	rowbinary_i64(&b, -2);
	assert_bytes(&b, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8);
}

static void floats_are_ieee_754(void **state)
{
	struct buf b = {0};

	(void)state;
	rowbinary_f32(&b, 1.5f);
	rowbinary_f64(&b, -2.0);
	assert_bytes(&b, "\x00\x00\xc0\x3f\0\0\0\0\0\0\0\xc0", 12);
}

static void a_short_string_has_one_length_byte(void **state)
{
	struct buf b = {0};

	(void)state;
	rowbinary_string(&b, "a\0b", 3);
	assert_bytes(&b, "\3a\0b", 4);
}

static void an_empty_string_is_a_zero(void **state)
{
	struct buf b = {0};

	(void)state;
	rowbinary_string(&b, NULL, 0);
	assert_bytes(&b, "\0", 1);
}

static void lengths_are_leb128(void **state)
{
	struct buf b = {0};

	(void)state;
	rowbinary_count(&b, 127);
	rowbinary_count(&b, 128);
	rowbinary_count(&b, 300);
	rowbinary_count(&b, UINT64_MAX);
	assert_bytes(&b,
		     "\x7f\x80\x01\xac\x02"
		     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		     15);
}

static void a_type_of_fixed_width_says_it(void **state)
{
	static const struct {
		const char *type;
		size_t width;
	} types[] = {
		{"Bool", 1},
		{"Int8", 1},
		{"UInt8", 1},
		{"UInt16", 2},
		{"UInt32", 4},
		{"Float32", 4},
		{"Int64", 8},
		{"UInt64", 8},
		{"Float64", 8},
		{"UUID", 16},
		{"IPv6", 16},
		{"FixedString(20)", 20},
		{"String", 0},
		{"DateTime64(3, 'UTC')", 8},
		{"LowCardinality(String)", 0},
		{"Array(LowCardinality(String))", 0},
		{"Map(LowCardinality(String), String)", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		assert_int_equal(rowbinary_width(types[i].type),
				 types[i].width);
}

static void a_default_is_zeros_or_a_text(void **state)
{
	struct buf b = {0};

	(void)state;
	rowbinary_default(&b, "FixedString(3)", "");
	rowbinary_default(&b, "UInt16", "");
	assert_bytes(&b, "\0\0\0\0\0", 5);
	rowbinary_default(&b, "LowCardinality(String)", "Other");
	rowbinary_default(&b, "String", "");
	rowbinary_default(&b, "Array(LowCardinality(String))", "");
	assert_bytes(&b, "\5Other\0\0", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_little_endian),
		cmocka_unit_test(a_negative_number_is_twos_complement),
		cmocka_unit_test(floats_are_ieee_754),
		cmocka_unit_test(a_short_string_has_one_length_byte),
		cmocka_unit_test(an_empty_string_is_a_zero),
		cmocka_unit_test(lengths_are_leb128),
		cmocka_unit_test(a_type_of_fixed_width_says_it),
		cmocka_unit_test(a_default_is_zeros_or_a_text),
	};

	return cmocka_run_group_tests_name("rowbinary", tests, NULL, NULL);
}
