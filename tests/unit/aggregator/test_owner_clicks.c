/* Which questions have to name an account: an owner belongs to one. */
#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/statistics/owner_clicks.h"

static int read_end(void *arg, int64_t *ret_ms, struct error *err)
{
	(void)arg;
	(void)err;
	*ret_ms = 1792890000000;
	return 0;
}

/* Returns whether a caller that sees all accounts may ask so. */
static bool is_allowed(const char *query, struct error *err)
{
	const struct aggregator_settings settings = {
		.buckets_max = 100,
		.groups_max = 50,
		.zoneinfo = (char[]){"/usr/share/zoneinfo"},
	};
	const struct access everybody = {.keys = NULL};
	struct question q;
	bool allowed;

	*err = (struct error){0};
	if (question_parse(&q, (struct http_slice){query, strlen(query)},
			   ASK_LINK | ASK_RANGE | ASK_INTERVAL | ASK_GROUP |
				   ASK_FILTER,
			   &settings, read_end, NULL, err) < 0)
		fail_msg("%s: %s", query, err->text);
	allowed = owner_question_check(&q, &everybody, err) == 0;
	question_release(&q);
	return allowed;
}

static void who_sees_all_names_one_account_beside_owners(void **state)
{
	static const struct {
		const char *query;
		bool allowed;
	} cases[] = {
		{"", true},
		{"account=acme", true},
		{"account=acme,shop", true},
		{"group_by=account", true},
		{"group_by=country", true},
		{"owner=ann", false},
		{"owner=-ann", false},
		{"owner=", false},
		{"owner=ann&country=DE", false},
		{"owner=ann&account=acme", true},
		{"owner=ann,bob&account=acme", true},
		{"owner=ann&account=", true},
		{"owner=ann&account=acme,shop", false},
		{"owner=ann&account=-acme", false},
		{"group_by=owner", false},
		{"group_by=owner&account=acme", true},
		{"group_by=owner&account=-acme", false},
		{"group_by=country,owner", false},
		{"group_by=owner,country&account=acme", true},
		{"group_by=account,owner", true},
		{"group_by=owner,account", true},
		{"group_by=owner,account&owner=ann", false},
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (is_allowed(cases[i].query, &err) != cases[i].allowed)
			fail_msg("%s: %s", cases[i].query, err.text);
}

static void a_refusal_names_the_parameter(void **state)
{
	struct error err;

	(void)state;
	assert_false(is_allowed("owner=ann", &err));
	assert_int_equal(err.code, ERROR_INPUT);
	assert_string_equal(err.text,
			    "owner: an owner belongs to an account: expected "
			    "one account=NAME beside it");
	assert_false(is_allowed("group_by=owner", &err));
	assert_non_null(strstr(err.text, "group_by: an owner belongs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_sees_all_names_one_account_beside_owners),
		cmocka_unit_test(a_refusal_names_the_parameter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
