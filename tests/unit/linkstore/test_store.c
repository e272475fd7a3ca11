/* Functions that need no Redis: configuration, codes to keys, markers and
 * ranges. */
#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/config_check.h"
#include "linkstore/target.h"
#include "tests/unit/linkstore/fixture.h"

static int setup_pure(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_configure(f);
	fixture_open_store(f);
	*state = f;
	return 0;
}

static int teardown_pure(void **state)
{
	struct fixture *f = *state;

	linkstore_free(f->store);
	free(f);
	return 0;
}

/* --- configuration -------------------------------------------------------- */

static void a_sound_configuration_is_valid(void **state)
{
	struct fixture *f = *state;

	must(f, links_config_validate(&f->config, &f->err));
}

static void classes_must_be_durations(void **state)
{
	static const char *const bad[] = {"", "10", "x", "0s", "999ms"};
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++) {
		f->classes[1] = text_of(bad[i]);
		must_fail(f, links_config_validate(&f->config, &f->err),
			  ERROR_CONFIG);
	}
}

static void a_class_is_there_once(void **state)
{
	struct fixture *f = *state;

	f->classes[1] = f->classes[0];
	must_fail(f, links_config_validate(&f->config, &f->err), ERROR_CONFIG);
}

static void two_spaces_share_nothing(void **state)
{
	struct fixture *f = *state;
	struct links_space_config spaces[2] = {f->space_config,
					       f->space_config};

	f->config.spaces = (struct setting_list){spaces, 2};
	for (int same = 0; same < 3; same++) {
		spaces[1].name = text_of(same == 0 ? "s5" : "s6");
		spaces[1].number = same == 1 ? 5 : 6;
		spaces[1].length = same == 2 ? 5 : 6;
		must_fail(f, links_config_validate(&f->config, &f->err),
			  ERROR_CONFIG);
	}
	spaces[1].length = 6;
	must(f, links_config_validate(&f->config, &f->err));
}

static void a_space_name_fits_a_hash_tag(void **state)
{
	static const char *const bad[] = {"", "S7", "a}b", "a b",
					  "a2345678901234567"};
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++) {
		f->space_config.name = text_of(bad[i]);
		must_fail(f, links_config_validate(&f->config, &f->err),
			  ERROR_CONFIG);
	}
}

static void keys_are_long_and_their_versions_distinct(void **state)
{
	struct fixture *f = *state;

	f->space_config.keys.count = 2;
	must(f, links_config_validate(&f->config, &f->err));
	f->keys[1].version = 0;
	must_fail(f, links_config_validate(&f->config, &f->err), ERROR_CONFIG);
	f->keys[1].version = 1;
	f->keys[1].key = text_of("short");
	must_fail(f, links_config_validate(&f->config, &f->err), ERROR_CONFIG);
	f->space_config.keys.count = 0;
	must_fail(f, links_config_validate(&f->config, &f->err), ERROR_CONFIG);
}

static void a_short_class_is_renewed_more_often(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->day->renew_below, CLOCK_DAY - CLOCK_HOUR);
	assert_int_equal(f->brief->renew_below, 1000 - 125);
	assert_int_equal(f->never->renew_below, 0);
	assert_int_equal(linkstore_longest_ttl(f->store), CLOCK_DAY);
}

/* --- codes ---------------------------------------------------------------- */

static void a_code_leads_to_its_block(void **state)
{
	struct fixture *f = *state;
	struct link_target made, found;

	linkstore_code(f->space, 123, 45, &made);
	assert_true(linkstore_locate(f->store, made.code, 5, &found));
	assert_int_equal(found.id, 123045);
	assert_int_equal(found.block, 123);
	assert_ptr_equal(found.space, f->space);
}

static void a_link_id_leads_to_the_code_of_each_key(void **state)
{
	const struct link_id_parts parts = {
		.space = 5, .generation = 3, .id = 4321};
	struct fixture *f = *state;
	struct link_target made, found;
	uint64_t link_id;

	must(f, link_id_pack(&parts, &link_id, &f->err));
	linkstore_code(f->space, 4, 321, &made);
	assert_ptr_equal(linkstore_space_of_id(f->store, link_id), f->space);
	assert_true(
		linkstore_locate_id(f->store, link_id, made.version, &found));
	assert_string_equal(found.code, made.code);
	assert_int_equal(found.block, 4);
	assert_false(linkstore_locate_id(f->store, link_id, 3, &found));
}

static void what_is_no_link_id_of_a_block_is_refused(void **state)
{
	struct fixture *f = *state;
	struct link_target target;
	const uint64_t others[] = {
		0,
		5,				 /* space 0 */
		UINT64_C(5) << 57 | LINK_ID_MAX, /* beyond the last block */
		UINT64_C(6) << 57 | 5,		 /* a space without blocks */
		UINT64_C(50) << 57 | 5,		 /* no space */
		UINT64_C(63) << 57 | 5,		 /* in no block */
		UINT64_C(69) << 57 | 5,		 /* no link id */
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(
			linkstore_locate_id(f->store, others[i], 0, &target));
}

static void what_is_no_code_is_refused(void **state)
{
	static const char *const bad[] = {
		"",	    "abc",
		"abcdefgh", "favicon.ico",
		"ab/de",    "a very long path that is no code at all",
	};
	struct fixture *f = *state;
	struct link_target t;

	for (int i = 0; i < 6; i++)
		assert_false(
			linkstore_locate(f->store, bad[i], strlen(bad[i]), &t));
}

static void a_block_far_above_the_cursor_is_refused(void **state)
{
	struct fixture *f = *state;
	struct link_target near, far, t;

	linkstore_code(f->space, 100, 0, &near);
	linkstore_code(f->space, 14775, 0, &far);
	assert_true(linkstore_locate(f->store, far.code, 5, &t));
	linkstore_note_cursor(f->space, 50, clock_boottime_ms());
	assert_true(linkstore_locate(f->store, near.code, 5, &t));
	assert_false(linkstore_locate(f->store, far.code, 5, &t));
}

/* Other allocators may have raised the cursor since. */
static void a_cursor_read_long_ago_refuses_no_block(void **state)
{
	struct fixture *f = *state;
	struct link_target far, t;
	const struct link_id_parts parts = {
		.space = 5, .generation = 1, .id = 14775000};
	int64_t now = clock_boottime_ms();
	uint64_t link_id;

	linkstore_code(f->space, 14775, 0, &far);
	must(f, link_id_pack(&parts, &link_id, &f->err));
	linkstore_note_cursor(f->space, 50, now - CLOCK_MINUTE);
	assert_true(linkstore_locate(f->store, far.code, 5, &t));
	assert_true(linkstore_locate_id(f->store, link_id, far.version, &t));
	/* A note with an unknown time, or an older one, does not update the
	 * age. */
	linkstore_note_high_water(f->space, &(struct high_water){.cursor = 60});
	assert_true(linkstore_locate(f->store, far.code, 5, &t));
	linkstore_note_cursor(f->space, 70, now);
	linkstore_note_cursor(f->space, 40, now - CLOCK_MINUTE);
	assert_false(linkstore_locate(f->store, far.code, 5, &t));
	assert_false(linkstore_locate_id(f->store, link_id, far.version, &t));
}

static void a_noted_cursor_never_goes_back(void **state)
{
	struct fixture *f = *state;
	struct link_target far, t;
	int64_t now = clock_boottime_ms();

	linkstore_code(f->space, 14775, 0, &far);
	linkstore_note_cursor(f->space, 14776, now);
	linkstore_note_cursor(f->space, 0, now);
	assert_true(linkstore_locate(f->store, far.code, 5, &t));
}

static void ids_beyond_the_last_whole_block_are_refused(void **state)
{
	struct fixture *f = *state;
	struct link_target t;
	char code[CODE_TEXT_MAX];

	codespace_encode(f->space->codes, 62 * 62 * 62 * 62 - 1, code);
	assert_false(linkstore_locate(f->store, code, 5, &t));
}

/* --- markers and ranges --------------------------------------------------- */

static bool parse_marker(const char *text, struct link_marker *ret)
{
	return marker_parse(text, strlen(text), ret);
}

static void a_marker_is_read_field_by_field(void **state)
{
	struct link_marker m;

	(void)state;
	assert_true(
		parse_marker("3 o 30d 1700000000000 1800000000000 host#1", &m));
	assert_int_equal(m.generation, 3);
	assert_true(m.open);
	assert_string_equal(m.class_name, "30d");
	assert_int_equal(m.opened, 1700000000000);
	assert_int_equal(m.end, 1800000000000);
	assert_string_equal(m.holder, "host#1");
	assert_true(parse_marker("1 c never 1 never h", &m));
	assert_true(m.end == DURATION_NEVER);
}

static void a_damaged_marker_is_no_marker(void **state)
{
	static const char *const bad[] = {
		"",
		"3",
		"3 o 30d 1 2",
		"3 o 30d 1 2 ",
		"x o 30d 1 2 h",
		"3 x 30d 1 2 h",
		"3 oc 30d 1 2 h",
		"3 o 30d -1 2 h",
		"3 o 30d 1 2 h more",
		"3 o 30d 1 9999999999999999999 h",
		"3 o a-class-with-a-name-much-too-long 1 2 h",
	};
	struct link_marker m;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse_marker(bad[i], &m))
			fail_msg("'%s' was read", bad[i]);
}

static void a_block_ends_at_its_end(void **state)
{
	struct link_marker m;

	(void)state;
	assert_true(parse_marker("1 o 30d 100 200 h", &m));
	assert_false(marker_ended(&m, 200));
	assert_true(marker_ended(&m, 201));
	assert_true(parse_marker("1 c 30d 100 200 h", &m));
	assert_true(marker_ended(&m, 0));
	assert_true(parse_marker("1 o never 100 never h", &m));
	assert_false(marker_ended(&m, INT64_MAX - 1));
}

static void ranges_are_read_as_they_are_written(void **state)
{
	struct block_range range = {7, 4294967296, 32767}, back;
	char text[RANGE_TEXT_MAX];

	(void)state;
	assert_string_equal(range_format(&range, text), "7-4294967296:32767");
	assert_true(range_parse(text, strlen(text), &back));
	assert_int_equal(back.first, range.first);
	assert_int_equal(back.last, range.last);
	assert_int_equal(back.generation, range.generation);
}

static void a_damaged_range_is_no_range(void **state)
{
	static const char *const bad[] = {"",	    "1",      "1-2",
					  "1-2:",   "-2:1",   "2-1:1",
					  "1-2:1x", "1--2:1", "1-2:99999999999",
					  "01-2:1", "1-02:1", "1-2:01",
					  "00-2:1"};
	struct block_range range;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(range_parse(bad[i], strlen(bad[i]), &range));
}

#define PURE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_pure, teardown_pure)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PURE(a_sound_configuration_is_valid),
		PURE(classes_must_be_durations),
		PURE(a_class_is_there_once),
		PURE(two_spaces_share_nothing),
		PURE(a_space_name_fits_a_hash_tag),
		PURE(keys_are_long_and_their_versions_distinct),
		PURE(a_short_class_is_renewed_more_often),
		PURE(a_code_leads_to_its_block),
		PURE(a_link_id_leads_to_the_code_of_each_key),
		PURE(what_is_no_link_id_of_a_block_is_refused),
		PURE(what_is_no_code_is_refused),
		PURE(a_block_far_above_the_cursor_is_refused),
		PURE(a_cursor_read_long_ago_refuses_no_block),
		PURE(a_noted_cursor_never_goes_back),
		PURE(ids_beyond_the_last_whole_block_are_refused),
		PURE(a_marker_is_read_field_by_field),
		PURE(a_damaged_marker_is_no_marker),
		PURE(a_block_ends_at_its_end),
		PURE(ranges_are_read_as_they_are_written),
		PURE(a_damaged_range_is_no_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
