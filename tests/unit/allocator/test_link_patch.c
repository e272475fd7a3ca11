#include "allocator/link/link_patch.h"
#include "common/drop_const.h"
#include "tests/unit/allocator/link_world_fixture.h"

static Shortloop__Link some_link(void)
{
	Shortloop__Link link;

	shortloop__link__init(&link);
	link.link_id = 5;
	link.version = 3;
	link.ttl_class = drop_const("10d");
	link.ttl_ms = 864000000;
	link.url = drop_const("https://old.example/");
	link.description = drop_const("old");
	link.max_visits = 9;
	return link;
}

static int parse_patch_body(struct link_patch *patch, const char *body,
			    struct error *err)
{
	return link_patch_parse(patch, &world.defaults.rules,
				(struct http_slice){body, strlen(body)}, err);
}

static void assert_refused(const char *body, const char *says)
{
	struct link_patch patch;
	struct error err = {0};

	assert_int_equal(parse_patch_body(&patch, body, &err), -1);
	link_patch_release(&patch);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("%s: '%s' does not say '%s'", body, err.text, says);
}

static void all_mistakes_of_a_patch_are_named(void **state)
{
	struct link_patch patch;
	struct error err = {0};
	struct buf text = {0};

	(void)state;
	assert_int_equal(parse_patch_body(&patch,
					  "{\"url\":null,\"ttl\":null,"
					  "\"account\":null,\"owner\":null}",
					  &err),
			 -1);
	field_mistakes_format(&patch.fields.mistakes, "patch.", &text);
	assert_string_equal(
		buf_cstr(&text),
		",\"field\":\"patch.url\",\"errors\":["
		"{\"field\":\"patch.url\",\"detail\":\"url: a link cannot be "
		"without\"},"
		"{\"field\":\"patch.account\",\"detail\":\"account: a link "
		"cannot be without\"},"
		"{\"field\":\"patch.ttl\",\"detail\":\"ttl: expected one of "
		"10d, never\"}]");
	assert_string_equal(err.text, "url: a link cannot be without");
	buf_free(&text);
	link_patch_release(&patch);
}

static void what_is_given_is_changed_and_the_rest_stays(void **state)
{
	Shortloop__Link before = some_link(), after;
	struct link_patch patch;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_patch_body(&patch,
				 "{\"url\":\"https://new.example/\","
				 "\"tags\":[\"t\"],\"state\":\"blocked\"}",
				 &err),
		0);
	assert_int_equal(link_patch_apply(&patch, &before, &after, &err), 0);
	assert_string_equal(after.url, "https://new.example/");
	assert_int_equal(after.n_tags, 1);
	assert_int_equal(after.state, SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	assert_string_equal(after.description, "old");
	assert_int_equal(after.max_visits, 9);
	assert_string_equal(after.ttl_class, "10d");
	assert_int_equal(after.link_id, 5);
	link_patch_release(&patch);
}

static void null_resets_a_field(void **state)
{
	Shortloop__Link before = some_link(), after;
	struct link_patch patch;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_patch_body(&patch,
				 "{\"description\":null,\"max_visits\":null}",
				 &err),
		0);
	assert_int_equal(link_patch_apply(&patch, &before, &after, &err), 0);
	assert_string_equal(after.description, "");
	assert_int_equal(after.max_visits, 0);
	link_patch_release(&patch);
}

static int edit_passing_link(const char *body)
{
	Shortloop__Link before = some_link(), after;
	struct link_patch patch;
	struct error err = {0};
	int status;

	before.path_pass = true;
	before.url = drop_const("app://");
	assert_int_equal(parse_patch_body(&patch, body, &err), 0);
	status = link_patch_apply(&patch, &before, &after, &err);
	if (status < 0)
		assert_non_null(strstr(err.text, "pass_path: url has neither"));
	link_patch_release(&patch);
	return status;
}

static void an_edit_gives_no_visitor_the_host(void **state)
{
	(void)state;
	assert_int_equal(edit_passing_link("{\"pass_path\":true}"), -1);
	assert_int_equal(edit_passing_link("{\"targets\":null}"), -1);
	assert_int_equal(edit_passing_link("{\"pass_path\":false}"), 0);
	assert_int_equal(edit_passing_link("{\"url\":\"https://a.example\"}"),
			 0);
	/* An edit that does not change the target is always allowed. */
	assert_int_equal(edit_passing_link("{\"state\":\"blocked\"}"), 0);
}

static void what_cannot_be_edited_is_refused(void **state)
{
	(void)state;
	assert_refused("{}", "nothing is to be changed");
	assert_refused("{\"space\":\"s8\"}", "space: is not a field");
	assert_refused("{\"account\":\"a b\"}", "account: expected 1 to 64");
	assert_refused("{\"account\":7}", "account: expected 1 to 64");
	assert_refused("{\"account\":null}",
		       "account: a link cannot be without");
	assert_refused("{\"code\":\"abc\"}", "code: is not a field");
	assert_refused("{\"url\":null}", "url: a link cannot be without");
	assert_refused("{\"ttl\":null}", "ttl: expected one of");
	assert_refused("{\"state\":\"deleted\"}", "live, paused or blocked");
	assert_refused("[]", "not a JSON object");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(all_mistakes_of_a_patch_are_named),
		WITH_STORE(what_is_given_is_changed_and_the_rest_stays),
		WITH_STORE(null_resets_a_field),
		WITH_STORE(an_edit_gives_no_visitor_the_host),
		WITH_STORE(what_cannot_be_edited_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
