#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/visit/trace_context.h"

/* The example in the standard. */
#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

static bool read_trace_id(const char *text, uint8_t id[TRACE_ID_SIZE])
{
	return traceparent_read((struct http_slice){text, strlen(text)}, id);
}

static void the_trace_id_is_read(void **state)
{
	static const uint8_t want[TRACE_ID_SIZE] = {
		0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6,
		0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36};
	uint8_t id[TRACE_ID_SIZE];

	(void)state;
	assert_true(read_trace_id("00-" TRACE "-" PARENT "-01", id));
	assert_memory_equal(id, want, sizeof(id));
}

/* Unknown flags are accepted. */
static void any_flags_do(void **state)
{
	uint8_t id[TRACE_ID_SIZE];

	(void)state;
	assert_true(read_trace_id("00-" TRACE "-" PARENT "-00", id));
	assert_true(read_trace_id("00-" TRACE "-" PARENT "-ff", id));
}

static void what_is_no_traceparent_is_refused_and_leaves_the_id(void **state)
{
	static const char *const others[] = {
		"",
		"00",
		"00-" TRACE "-" PARENT "-0",
		"00-" TRACE "-" PARENT "-01-",
		"00-" TRACE "-" PARENT "-011",
		"00-" TRACE "-" PARENT "-0g",
		"01-" TRACE "-" PARENT "-01", /* another version */
		"ff-" TRACE "-" PARENT "-01",
		"00_" TRACE "-" PARENT "-01",
		"00-" TRACE "_" PARENT "-01",
		"00-" TRACE "-" PARENT "_01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01",
		"00-" TRACE "-00F067AA0BA902B7-01",
		"00-" TRACE "-" PARENT "-0A",
		"00-4bf92f3577b34da6a3ce929d0e0e473/-" PARENT "-01",
		"00-4bf92f3577b34da6a3ce929d0e0e473:-" PARENT "-01",
		"00-4bf92f3577b34da6a3ce929d0e0e473`-" PARENT "-01",
		"00-00000000000000000000000000000000-" PARENT "-01",
		"00-" TRACE "-0000000000000000-01",
	};
	uint8_t id[TRACE_ID_SIZE], untouched[TRACE_ID_SIZE];

	(void)state;
	memset(id, 7, sizeof(id));
	memset(untouched, 7, sizeof(untouched));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (read_trace_id(others[i], id))
			fail_msg("'%s' was read", others[i]);
	assert_false(traceparent_read((struct http_slice){0}, id));
	assert_memory_equal(id, untouched, sizeof(id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trace_id_is_read),
		cmocka_unit_test(any_flags_do),
		cmocka_unit_test(
			what_is_no_traceparent_is_refused_and_leaves_the_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
