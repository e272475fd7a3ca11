#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/filter/link_filter.h"
#include "common/drop_const.h"
#include "common/keys/key_line.h"

static const struct api_key_info crm = {.roles = API_CREATE, .account = "crm"};
static const struct api_key_info boss = {.roles = API_ADMIN | API_CREATE,
					 .account = "boss"};

static int parse_filter(struct link_filter *f, const char *query,
			const struct api_key_info *caller, struct error *err)
{
	struct edit_options options = {0};

	return link_filter_parse(f, (struct http_slice){query, strlen(query)},
				 caller, &options, err);
}

static void assert_matches(const char *query, const Shortloop__Link *link,
			   bool matches)
{
	struct link_filter f;
	struct error err = {0};

	assert_int_equal(parse_filter(&f, query, &boss, &err), 0);
	if (link_filter_matches(&f, link) != matches)
		fail_msg("%s: %s", query, matches ? "no match" : "a match");
	link_filter_release(&f);
}

static void a_link_matches_what_it_is(void **state)
{
	char *tags[] = {drop_const("a"), drop_const("b")};
	Shortloop__Target ios, *targets[] = {&ios};
	Shortloop__Link link;

	(void)state;
	shortloop__target__init(&ios);
	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = drop_const("https://ios.example:8443/app");
	shortloop__link__init(&link);
	link.account = drop_const("crm");
	link.owner = drop_const("ann");
	link.url = drop_const("https://user@a.example/?x=https://b.example/");
	link.tags = tags;
	link.n_tags = 2;
	link.targets = targets;
	link.n_targets = 1;
	link.created_ms = 1790000000000; /* 2026-09-21 */
	assert_matches("account=crm&owner=ann&tag=b", &link, true);
	assert_matches("account=crm&owner=bob", &link, false);
	assert_matches("account=shop", &link, false);
	assert_matches("campaign=", &link, true);
	assert_matches("campaign=c", &link, false);
	assert_matches("tag=c", &link, false);
	assert_matches("url_host=A.example", &link, true);
	assert_matches("url_host=ios.example", &link, true);
	assert_matches("url_host=b.example", &link, false);
	assert_matches("url_host=example", &link, false);
	assert_matches("created=2026-09-21..2026-09-22", &link, true);
	assert_matches("created=2026-09-22..2026-09-23", &link, false);
	assert_matches("created=2026-09-21..2026-09-21T14:13:20Z", &link,
		       false);
	assert_matches("created=2026-09-21T14:13:20Z..2026-09-22", &link, true);
	assert_matches("created=2026-09-01..2026-09-21T00:00:00Z", &link,
		       false);
}

static void a_link_without_tags_has_none(void **state)
{
	Shortloop__Link link;

	(void)state;
	shortloop__link__init(&link);
	assert_matches("tag=a", &link, false);
	assert_matches("account=&owner=", &link, true);
}

static void what_is_wrong_is_named(void **state)
{
	static const char *const bad[][2] = {
		{"", "a filter"},
		{"after=x", "a filter"},
		{"dry_run=true", "a filter"},
		{"owner=a", "owner: expected one account=NAME"},
		{"owner=a&owner=b", "owner: is given twice"},
		{"hue=1", "hue: is not"},
		{"created=2026-11-08..2026-11-01", "created:"},
		{"created=2026-11-01", "created:"},
		{"created=..", "created:"},
		{"url_host=a..b", "url_host:"},
		{"owner=a&answer=x", "answer: expected"},
		{"owner=%zz", ""},
	};
	struct link_filter f;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse_filter(&f, bad[i][0], &boss, &err), -1);
		assert_int_equal(err.code, ERROR_INPUT);
		if (strncmp(err.text, bad[i][1], strlen(bad[i][1])) != 0)
			fail_msg("%s: %s", bad[i][0], err.text);
		link_filter_release(&f);
	}
}

static void a_key_names_its_own_account_only(void **state)
{
	struct link_filter f;
	struct error err;

	(void)state;
	assert_int_equal(parse_filter(&f, "account=shop", &crm, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_OWNER);
	link_filter_release(&f);
	assert_int_equal(parse_filter(&f, "tag=a", &crm, &err), 0);
	assert_string_equal(f.bound_account, "crm");
	link_filter_release(&f);
	assert_int_equal(parse_filter(&f, "account=shop", &boss, &err), 0);
	assert_null(f.bound_account);
	link_filter_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_matches_what_it_is),
		cmocka_unit_test(a_link_without_tags_has_none),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(a_key_names_its_own_account_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
