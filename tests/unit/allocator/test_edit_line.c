#include "allocator/batch/edit_line.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "tests/unit/allocator/link_world_fixture.h"

static int parse_edit(struct edit_line *line, const char *text,
		      struct error *err)
{
	return edit_line_parse(line, &world.defaults.rules,
			       (struct http_slice){text, strlen(text)}, err);
}

static void assert_slice(struct http_slice slice, const char *text)
{
	assert_non_null(slice.data);
	assert_int_equal(slice.len, strlen(text));
	assert_memory_equal(slice.data, text, slice.len);
}

static void a_line_has_a_code_and_a_patch(void **state)
{
	struct edit_line line;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_edit(&line,
			   "{\"code\":\"abc\",\"patch\":{\"tags\":[\"a\"],"
			   "\"campaign\":null},\"if_match\":\"\\\"5-3\\\"\"}",
			   &err),
		0);
	assert_slice(line.code, "abc");
	assert_slice(line.if_match, "\"5-3\"");
	assert_true(line.patches);
	assert_false(line.deletes);
	assert_int_equal(line.patch.fields.given, FIELD_TAGS | FIELD_CAMPAIGN);
	assert_int_equal(line.patch.fields.tag_count, 1);
	edit_line_release(&line);
}

static void a_line_may_delete(void **state)
{
	struct edit_line line;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_edit(&line, "{\"delete\":true,\"code\":\"abc\"}", &err),
		0);
	assert_true(line.deletes);
	assert_false(line.patches);
	assert_null(line.if_match.data);
	edit_line_release(&line);
}

static void a_line_may_have_a_code_or_an_edit_alone(void **state)
{
	struct edit_line line;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_edit(&line, "{\"code\":\"abc\"}", &err), 0);
	assert_false(line.patches || line.deletes);
	edit_line_release(&line);
	assert_int_equal(
		parse_edit(&line, "{\"patch\":{\"state\":\"blocked\"}}", &err),
		0);
	assert_null(line.code.data);
	assert_true(line.patches);
	edit_line_release(&line);
}

static void what_is_wrong_is_named(void **state)
{
	static const char *const bad[][2] = {
		{"{\"code\":\"abc\",\"patch\":{\"hue\":1}}", "patch: hue:"},
		{"{\"code\":\"abc\",\"patch\":{}}", "patch: nothing"},
		{"{\"code\":\"abc\",\"patch\":[]}", "patch: expected"},
		{"{\"code\":3,\"patch\":{\"tags\":[]}}", "code: expected"},
		{"{\"code\":\"abc\",\"delete\":false}", "delete: expected"},
		{"{\"code\":\"abc\",\"delete\":1}", "delete: expected"},
		{"{\"code\":\"abc\",\"delete\":true,\"patch\":{\"tags\":[]}}",
		 "delete: excludes"},
		{"{\"code\":\"abc\",\"restore\":true,\"patch\":{\"tags\":[]}}",
		 "restore: excludes"},
		{"{\"code\":\"abc\",\"restore\":true,\"delete\":true}",
		 "delete: excludes"},
		{"{\"code\":\"abc\",\"restore\":false}", "restore: expected"},
		{"{\"code\":\"abc\",\"url\":\"https://a.example/\"}",
		 "url: is"},
		{"{\"code\":\"abc\",\"delete\":true,\"if_match\":3}",
		 "if_match: expected"},
		{"{\"delete\":true,\"if_match\":\"*\"}", "if_match: is"},
		{"{}", "code: is required"},
		{"[]", "not a JSON object"},
		{"", "not JSON"},
		{"{\"code\":\"a\",\"code\":\"b\",\"delete\":true}", "not JSON"},
	};
	struct edit_line line;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse_edit(&line, bad[i][0], &err), -1);
		assert_int_equal(err.code, ERROR_INPUT);
		if (strncmp(err.text, bad[i][1], strlen(bad[i][1])) != 0)
			fail_msg("%s: %s", bad[i][0], err.text);
		edit_line_release(&line);
	}
}

static void an_answer_has_the_present_version(void **state)
{
	const struct edit_options options = {.dry_run = true};
	Shortloop__Link link;
	const struct change_result result = {.status = 200,
					     .changed = true,
					     .code = "abc",
					     .link = &link,
					     .expires = DURATION_NEVER};
	struct buf out = {0};

	(void)state;
	shortloop__link__init(&link);
	link.version = 4;
	link.state = SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	edit_answer_put(&result, &world.defaults.rules, &options, &out);
	assert_string_equal(buf_cstr(&out),
			    "\"code\":\"abc\",\"version\":4,\"state\":"
			    "\"blocked\",\"changed\":true,\"dry_run\":true");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_a_code_and_a_patch),
		cmocka_unit_test(a_line_may_delete),
		cmocka_unit_test(a_line_may_have_a_code_or_an_edit_alone),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(an_answer_has_the_present_version),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
