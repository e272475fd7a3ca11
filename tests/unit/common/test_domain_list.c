#include "tests/unit/unit.h"

#include <string.h>

#include "common/domain_list.h"

static struct domain_list *load_list(const char *text)
{
	struct error err = {0};
	struct domain_list *list;
	char path[64];

	list = domain_list_load(unit_write_file(text, path), &err);
	unlink(path);
	if (!list)
		fail_msg("%s: %s", text, err.text);
	return list;
}

static bool has_name(const struct domain_list *list, const char *name)
{
	struct error err = {0};
	struct host host;

	if (host_parse(name, strlen(name), &host, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	return domain_list_has(list, &host);
}

static void assert_refused(const char *text, const char *says)
{
	struct error err = {0};
	char path[64];

	assert_null(domain_list_load(unit_write_file(text, path), &err));
	unlink(path);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, path));
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void a_name_is_itself_alone(void **state)
{
	struct domain_list *list = load_list("example.com\n");

	(void)state;
	assert_true(has_name(list, "example.com"));
	assert_true(has_name(list, "EXAMPLE.com."));
	assert_false(has_name(list, "www.example.com"));
	assert_false(has_name(list, "com"));
	assert_false(has_name(list, "xample.com"));
	assert_false(has_name(list, "example.co"));
	domain_list_free(list);
}

static void a_dot_in_front_takes_in_all_below(void **state)
{
	struct domain_list *list = load_list(".example.com\n");

	(void)state;
	assert_true(has_name(list, "example.com"));
	assert_true(has_name(list, "www.example.com"));
	assert_true(has_name(list, "a.b.c.example.com"));
	assert_false(has_name(list, "notexample.com"));
	assert_false(has_name(list, "example.com.org"));
	assert_false(has_name(list, "com"));
	domain_list_free(list);
}

static void both_forms_of_one_name_add_up(void **state)
{
	struct domain_list *list =
		load_list("a.com\n.a.com\nA.COM\n.b.com\nb.com\nb.com\n");

	(void)state;
	assert_int_equal(domain_list_count(list), 2);
	assert_true(has_name(list, "x.a.com"));
	assert_true(has_name(list, "x.b.com"));
	domain_list_free(list);
}

static void whole_top_level_domains_can_be_listed(void **state)
{
	struct domain_list *list = load_list(".zip\n");

	(void)state;
	assert_true(has_name(list, "zip"));
	assert_true(has_name(list, "a.b.zip"));
	assert_false(has_name(list, "zip.com"));
	domain_list_free(list);
}

static void comments_blanks_and_any_line_end_are_taken(void **state)
{
	struct domain_list *list = load_list(
		"# all of it\n\n \t \n  a.com  # why\r\n\t.b.com\r\nc.com");

	(void)state;
	assert_int_equal(domain_list_count(list), 3);
	assert_true(has_name(list, "a.com"));
	assert_true(has_name(list, "x.b.com"));
	assert_true(has_name(list, "c.com"));
	domain_list_free(list);
}

static void international_lines_are_normalised(void **state)
{
	struct domain_list *list = load_list(".B\xc3\x9c"
					     "CHER.example\n");

	(void)state;
	assert_true(has_name(list, "xn--bcher-kva.example"));
	assert_true(has_name(list, "www.b\xc3\xbc"
				   "cher.example"));
	domain_list_free(list);
}

static void addresses_are_found_in_any_form(void **state)
{
	struct domain_list *list = load_list("127.0.0.1\n[2001:db8::7]\n");

	(void)state;
	assert_true(has_name(list, "127.0.0.1"));
	assert_true(has_name(list, "0x7f000001"));
	assert_true(has_name(list, "[2001:DB8:0::7]"));
	assert_false(has_name(list, "127.0.0.2"));
	domain_list_free(list);
}

static void an_empty_list_has_nothing(void **state)
{
	struct domain_list *list = load_list("# none yet\n");

	(void)state;
	assert_int_equal(domain_list_count(list), 0);
	assert_false(has_name(list, "example.com"));
	domain_list_free(list);
}

static void a_bad_line_is_named(void **state)
{
	(void)state;
	assert_refused("a.com\n\nb..com\n", ":3: ");
	assert_refused("0.0.0.0 ads.example\n", ":1: ");
	assert_refused("https://a.com/\n", ":1: ");
	assert_refused("*.a.com\n", ":1: ");
	assert_refused(".\n", ":1: ");
	assert_refused("..a.com\n", ":1: ");
	assert_refused(".127.0.0.1\n", "below an address");
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(domain_list_load("/nonexistent/list", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "/nonexistent/list: No such file"));
	assert_null(domain_list_load("/tmp", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

/* Every second number is on the list: all of these are found, and no other. */
static void answers_are_exact(void **state)
{
	enum {
		COUNT = 100000
	};
	char *text = malloc((size_t)COUNT * 24), *end = text, name[32];
	struct domain_list *list;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < COUNT; i += 2)
		end += sprintf(end, "n%d.example\n", i);
	list = load_list(text);
	free(text);
	assert_int_equal(domain_list_count(list), COUNT / 2);
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "n%d.example", i);
		if (has_name(list, name) != (i % 2 == 0))
			fail_msg("%s", name);
	}
	domain_list_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_itself_alone),
		cmocka_unit_test(a_dot_in_front_takes_in_all_below),
		cmocka_unit_test(both_forms_of_one_name_add_up),
		cmocka_unit_test(whole_top_level_domains_can_be_listed),
		cmocka_unit_test(comments_blanks_and_any_line_end_are_taken),
		cmocka_unit_test(international_lines_are_normalised),
		cmocka_unit_test(addresses_are_found_in_any_form),
		cmocka_unit_test(an_empty_list_has_nothing),
		cmocka_unit_test(a_bad_line_is_named),
		cmocka_unit_test(a_file_that_is_not_there_is_named),
		cmocka_unit_test(answers_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
