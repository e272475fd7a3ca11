#include "tests/unit/unit.h"

#include <string.h>

#include "collector/tools/import/visit_click.h"

static struct access_text make_access_text(const char *s)
{
	return (struct access_text){s, strlen(s)};
}

/* Returns the kind of visit for a path, by the rules' prefix. */
static enum visit_kind take_as(const struct visit_rules *rules,
			       const char *path, struct arena *arena,
			       Shortloop__Click *click)
{
	const struct access_visit visit = {
		.time_ms = 1431857103000,
		.ip = {192, 0, 2, 7},
		.ip_len = 4,
		.method = make_access_text("GET"),
		.path = make_access_text(path),
		.query = make_access_text("x=y"),
		.status = 302,
		.host = make_access_text("Go.Example.com:8080"),
		.user_agent = make_access_text("curl/8"),
	};

	return visit_click(&visit, rules, 41, arena, click);
}

static enum visit_kind convert_visit(const char *path, const char *prefix,
				     struct arena *arena,
				     Shortloop__Click *click)
{
	const struct visit_rules rules = {
		.path_prefix = prefix, .edge = "edge-1", .event_id = 99};

	return take_as(&rules, path, arena, click);
}

static void assert_code(const char *path, const char *prefix,
			const char *expected)
{
	struct arena arena = {0};
	Shortloop__Click click;

	assert_int_equal(convert_visit(path, prefix, &arena, &click),
			 VISIT_CLICK);
	assert_string_equal(click.code, expected);
	arena_free(&arena);
}

static void the_code_is_the_first_segment(void **state)
{
	(void)state;
	assert_code("/abc", "/", "abc");
	assert_code("/abc/", "/", "abc");
	assert_code("/a-b_C9", "/", "a-b_C9");
}

static void a_code_in_a_text_is_what_the_redirector_makes_of_it(void **state)
{
	(void)state;
	assert_code("/abc.", "/", "abc");
	assert_code("/abc).", "/", "abc");
	assert_code("/abc%E2%80%8B", "/", "abc");
	assert_code("/%61bc", "/", "abc");
	assert_code("/%61bc/", "/", "abc");
	assert_code("/abc//", "/", "abc");
	assert_code("/go/%61bc)", "/go", "abc");
}

/* The redirector answers each of these paths with 404 because of its form,
 * whatever links there are. */
static void what_names_no_code_is_no_click(void **state)
{
	static const char *const paths[] = {
		"/",	    "//abc",	      "/favicon.ico", "/css/x.css",
		"/abc/d/e", "/robots.txt",    "/.env",	      "/caf%2Fx",
		"/a+b",	    "/wp-login.php",  "/a:b",	      "/abc//d",
		"/abc;x",   "/.well-known/x", "/a b",
	};
	struct arena arena = {0};
	Shortloop__Click click;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(convert_visit(paths[i], "/", &arena, &click),
				 VISIT_NO_CODE);
	assert_int_equal(convert_visit("/go", "/go", &arena, &click),
			 VISIT_NO_CODE);
	arena_free(&arena);
}

static void a_path_behind_the_code_may_belong_to_the_visit(void **state)
{
	const struct visit_rules rules = {
		.path_prefix = "/", .edge = "edge-1", .pass_path = true};
	struct arena arena = {0};
	Shortloop__Click click;

	(void)state;
	assert_int_equal(take_as(&rules, "/abc/d/e", &arena, &click),
			 VISIT_CLICK);
	assert_string_equal(click.code, "abc");
	assert_int_equal(take_as(&rules, "/favicon.ico", &arena, &click),
			 VISIT_NO_CODE);
	arena_free(&arena);
}

static void it_lies_behind_the_prefix(void **state)
{
	(void)state;
	assert_code("/go/abc", "/go", "abc");
	assert_code("/go/abc", "/go/", "abc");
	assert_code("/go/to/abc", "/go/to", "abc");
}

static void other_paths_are_elsewhere(void **state)
{
	static const char *const paths[] = {"/", "/g", "/gone/abc", "/abc/go"};
	struct arena arena = {0};
	Shortloop__Click click;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(convert_visit(paths[i], "/go", &arena, &click),
				 VISIT_ELSEWHERE);
	assert_int_equal(convert_visit("", "/", &arena, &click),
			 VISIT_NO_REQUEST);
	arena_free(&arena);
}

static void a_code_has_no_more_than_64_bytes(void **state)
{
	struct arena arena = {0};
	Shortloop__Click click;
	char path[200] = "/";

	(void)state;
	memset(path + 1, 'a', 64);
	assert_int_equal(convert_visit(path, "/", &arena, &click), VISIT_CLICK);
	assert_int_equal(strlen(click.code), 64);
	path[65] = 'a';
	assert_int_equal(convert_visit(path, "/", &arena, &click),
			 VISIT_NO_CODE);
	arena_free(&arena);
}

static void the_click_says_what_the_line_did(void **state)
{
	struct arena arena = {0};
	Shortloop__Click c;

	(void)state;
	assert_int_equal(convert_visit("/abc", "/", &arena, &c), VISIT_CLICK);
	assert_int_equal(c.time_ms, 1431857103000);
	assert_int_equal(c.event_id_high, 99);
	assert_int_equal(c.event_id, 41);
	assert_string_equal(c.edge, "edge-1");
	assert_string_equal(c.domain, "go.example.com");
	assert_int_equal(c.client_ip.len, 4);
	assert_memory_equal(c.client_ip.data, "\xc0\x00\x02\x07", 4);
	assert_int_equal(c.user_agent.len, 6);
	assert_memory_equal(c.query.data, "x=y", 3);
	assert_int_equal(c.referrer.len, 0);
	assert_int_equal(c.outcome, SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED);
	assert_int_equal(c.link_id, 0);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_is_the_first_segment),
		cmocka_unit_test(
			a_code_in_a_text_is_what_the_redirector_makes_of_it),
		cmocka_unit_test(what_names_no_code_is_no_click),
		cmocka_unit_test(
			a_path_behind_the_code_may_belong_to_the_visit),
		cmocka_unit_test(it_lies_behind_the_prefix),
		cmocka_unit_test(other_paths_are_elsewhere),
		cmocka_unit_test(a_code_has_no_more_than_64_bytes),
		cmocka_unit_test(the_click_says_what_the_line_did),
	};

	return cmocka_run_group_tests_name("visit_click", tests, NULL, NULL);
}
