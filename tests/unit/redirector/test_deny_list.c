#include "redirector/visit/deny_list.h"
#include "tests/unit/redirector/deny_world.h"

static struct deny_list *try_load(const char *text, struct error *err)
{
	struct deny_text file = text_file(text);
	struct deny_list *list = deny_list_load(file.path, err);

	unlink(file.path);
	return list;
}

static struct deny_list *load_deny_list(const char *text)
{
	struct error err = {0};
	struct deny_list *list = try_load(text, &err);

	assert_non_null(list);
	return list;
}

static bool is_denied(const struct deny_list *list, const char *text)
{
	struct address a = address_of(text);

	return deny_list_has(list, &a);
}

static void expect_refused(const char *text, const char *said)
{
	struct error err = {0};

	assert_null(try_load(text, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, said))
		fail_msg("'%s' does not say '%s'", err.text, said);
}

static void a_network_has_its_addresses_and_no_others(void **state)
{
	struct deny_list *l =
		load_deny_list("192.0.2.64/26\n2001:db8:8000::/33\n");

	(void)state;
	assert_false(is_denied(l, "192.0.2.63"));
	assert_true(is_denied(l, "192.0.2.64"));
	assert_true(is_denied(l, "192.0.2.127"));
	assert_false(is_denied(l, "192.0.2.128"));
	assert_false(is_denied(l, "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"));
	assert_true(is_denied(l, "2001:db8:8000::"));
	assert_true(is_denied(l, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"));
	assert_false(is_denied(l, "2001:db9::"));
	deny_list_free(l);
}

static void an_address_alone_is_one(void **state)
{
	struct deny_list *l = load_deny_list("192.0.2.7\n2001:db8::7\n");

	(void)state;
	assert_true(is_denied(l, "192.0.2.7"));
	assert_false(is_denied(l, "192.0.2.8"));
	assert_true(is_denied(l, "2001:db8::7"));
	assert_false(is_denied(l, "2001:db8::6"));
	assert_false(is_denied(l, "2001:db8::8"));
	deny_list_free(l);
}

static void all_of_one_family_is_none_of_the_other(void **state)
{
	struct deny_list *v4 = load_deny_list("0.0.0.0/0"),
			 *v6 = load_deny_list("::/0");

	(void)state;
	assert_true(is_denied(v4, "255.255.255.255"));
	assert_false(is_denied(v4, "ffff::"));
	assert_true(is_denied(v6, "ffff::"));
	assert_true(is_denied(v6, "::"));
	assert_false(is_denied(v6, "0.0.0.0"));
	deny_list_free(v4);
	deny_list_free(v6);
}

static void mapped_networks_are_ipv4(void **state)
{
	struct deny_list *l = load_deny_list("::ffff:192.0.2.0/120\n");

	(void)state;
	assert_true(is_denied(l, "192.0.2.200"));
	assert_true(is_denied(l, "::ffff:192.0.2.200"));
	deny_list_free(l);
}

static void networks_may_overlap_in_any_order(void **state)
{
	struct deny_list *l =
		load_deny_list("10.9.0.0/16\n10.0.0.0/8\n10.0.0.0/24\n"
			       "12.0.0.0/8\n10.0.0.0/8\n9.255.0.0/16\n");

	(void)state;
	assert_int_equal(deny_list_count(l), 6);
	assert_true(is_denied(l, "9.255.0.0"));
	assert_true(is_denied(l, "10.200.0.1"));
	assert_false(is_denied(l, "11.0.0.0"));
	assert_true(is_denied(l, "12.255.255.255"));
	assert_false(is_denied(l, "13.0.0.0"));
	deny_list_free(l);
}

static void comments_and_blank_lines_are_passed_over(void **state)
{
	struct deny_list *l =
		load_deny_list("; a list\n\n  # another\n\t\n"
			       " 192.0.2.0/24 ; SBL1\r\n"
			       "198.51.100.0/24#x\n203.0.113.0/24\t\t# y");

	(void)state;
	assert_int_equal(deny_list_count(l), 3);
	assert_true(is_denied(l, "192.0.2.1"));
	assert_true(is_denied(l, "198.51.100.1"));
	assert_true(is_denied(l, "203.0.113.1"));
	deny_list_free(l);
}

static void an_empty_list_denies_nobody(void **state)
{
	const struct address unknown = {.len = 0};
	struct deny_list *l = load_deny_list(""),
			 *all = load_deny_list("0.0.0.0/0\n::/0\n");

	(void)state;
	assert_int_equal(deny_list_count(l), 0);
	assert_false(is_denied(l, "192.0.2.1"));
	assert_false(is_denied(l, "2001:db8::1"));
	assert_false(deny_list_has(all, &unknown));
	deny_list_free(l);
	deny_list_free(all);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	(void)state;
	expect_refused("192.0.2.0/24\n\nexample.com\n",
		       ":3: 'example.com' is not a");
	expect_refused("192.0.2.1/24",
		       ":1: '192.0.2.1/24' has bits set beyond");
	expect_refused("192.0.2.0/33",
		       ":1: '192.0.2.0/33' has a prefix length");
	expect_refused("2001:db8::/129", "has a prefix length");
	expect_refused("192.0.2.0/24 198.51.100.0/24", "has a prefix length");
	expect_refused("192.0.2.0 /24", "is not a network");
	expect_refused("192.0.2.0/", "has a prefix length");
	expect_refused("192.0.2.0-192.0.2.9", "is not a network");
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(deny_list_load("/nowhere/deny.txt", &err));
	assert_string_equal(err.text,
			    "/nowhere/deny.txt: No such file or directory");
	assert_null(deny_list_load("/", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

/* --- many ------------------------------------------------------------------
 */

enum {
	MANY = 20000
};

/* Returns every third /24 of 10.0.0.0/7, the last one first. */
static char *many_networks(void)
{
	char *text = malloc((size_t)MANY * 24);
	size_t len = 0;

	assert_non_null(text);
	for (int i = MANY; i-- > 0;)
		len += (size_t)sprintf(text + len, "%d.%d.%d.0/24\n",
				       10 + i * 3 / 65536, i * 3 / 256 % 256,
				       i * 3 % 256);
	return text;
}

static void each_of_many_is_found_and_nothing_between(void **state)
{
	char *text = many_networks();
	struct deny_list *l = load_deny_list(text);

	(void)state;
	assert_int_equal(deny_list_count(l), MANY);
	for (uint32_t i = 0; i < MANY * 3; i++) {
		const struct address a = {4,
					  {(uint8_t)(10 + i / 65536),
					   (uint8_t)(i / 256), (uint8_t)i,
					   (uint8_t)(i * 7)}};

		assert_int_equal(deny_list_has(l, &a), i % 3 == 0);
	}
	deny_list_free(l);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_network_has_its_addresses_and_no_others),
		cmocka_unit_test(an_address_alone_is_one),
		cmocka_unit_test(all_of_one_family_is_none_of_the_other),
		cmocka_unit_test(mapped_networks_are_ipv4),
		cmocka_unit_test(networks_may_overlap_in_any_order),
		cmocka_unit_test(comments_and_blank_lines_are_passed_over),
		cmocka_unit_test(an_empty_list_denies_nobody),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
		cmocka_unit_test(each_of_many_is_found_and_nothing_between),
	};

	return cmocka_run_group_tests_name("deny_list", tests, NULL, NULL);
}
