#include "tests/unit/unit.h"

#include <string.h>

#include "collector/enrich/wire_range.h"
#include "schemas/click.pb-c.h"

static const struct wire_column columns[] = {
	{"status", "UInt16"},
	{"time_ms", "UInt64"},
	{NULL, NULL},
};

/* Checks a message of one varint in the field with that name. */
static int check_varint_field(const char *name, uint64_t value,
			      struct error *err)
{
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(
			&shortloop__click__descriptor, name);
	uint8_t bytes[12];
	size_t len = 0;

	assert_non_null(field);
	for (uint64_t key = (uint64_t)field->id << 3;; key >>= 7) {
		bytes[len++] =
			(uint8_t)(key < 0x80 ? key : 0x80 | (key & 0x7f));
		if (key < 0x80)
			break;
	}
	for (;; value >>= 7) {
		bytes[len++] =
			(uint8_t)(value < 0x80 ? value : 0x80 | (value & 0x7f));
		if (value < 0x80)
			break;
	}
	return wire_check_ranges(&shortloop__click__descriptor, columns, bytes,
				 len, "a click", err);
}

static void a_number_fits_its_column(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(check_varint_field("status", 65535, &err), 0);
	assert_int_equal(check_varint_field("status", 65536, &err), -1);
	assert_string_equal(err.text, "not a click: status 65536");
	assert_int_equal(check_varint_field("status", 99999, &err), -1);
	assert_int_equal(check_varint_field("status", UINT64_MAX, &err), -1);
}

static void a_number_fits_its_field_where_no_column_is_narrower(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(check_varint_field("outcome", 99, &err), 0);
	assert_int_equal(check_varint_field("outcome", INT32_MAX, &err), 0);
	assert_int_equal(check_varint_field("outcome", UINT64_C(1) << 31, &err),
			 -1);
	assert_string_equal(err.text, "not a click: outcome 2147483648");
}

static void what_ends_in_a_number_is_no_message(void **state)
{
	static const uint8_t half[] = {12 << 3, 0x80};
	struct error err = {0};

	(void)state;
	assert_int_equal(wire_check_ranges(&shortloop__click__descriptor,
					   columns, half, sizeof(half),
					   "a click", &err),
			 -1);
	assert_string_equal(err.text, "not a click: not a protobuf message");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_fits_its_column),
		cmocka_unit_test(
			a_number_fits_its_field_where_no_column_is_narrower),
		cmocka_unit_test(what_ends_in_a_number_is_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
