/* Which owner, account and domain an existing link may get. */
#include "allocator/link/link_move.h"
#include "common/keys/key_names.h"
#include "tests/unit/allocator/link_world.h"
#include "tests/unit/allocator/place_domains.h"
#include "tests/unit/unit.h"

#include <string.h>

#include "common/drop_const.h"

static struct link_world world;
static struct domains *domains;

static int open_domains(struct error *err)
{
	domains = place_domains_open("main", 3, err);
	world.defaults.rules.domains = domains;
	return domains ? 0 : -1;
}

static int set_up(void **state)
{
	struct error err = {0};

	(void)state;
	return link_world_open(&world, &err) || open_domains(&err);
}

static int tear_down(void **state)
{
	(void)state;
	domains_free(domains);
	domains = NULL;
	link_world_close(&world);
	return 0;
}

/* Returns "account owner domain" of the link that is moved, or the refusal.
 * NULL texts are not given.  The link is ann's of acme, under main. */
static const char *move_link(const struct api_key_info *key,
			     Shortloop__LinkState state, const char *account,
			     const char *owner, const char *domain,
			     int *ret_code)
{
	static char text[sizeof(struct error)];
	struct error err = {0};
	const struct link_fields f = {
		.account = account ? account : "",
		.owner = owner ? owner : "",
		.domain_name = domain ? domain : "",
		.given = (account ? FIELD_ACCOUNT : 0U) |
			 (owner ? FIELD_OWNER : 0U) |
			 (domain ? FIELD_DOMAIN : 0U),
	};
	const struct link_move move = {
		&f, &world.defaults.rules, key,
		linkstore_space_named(world.store, "s7")};
	Shortloop__Link before, after;

	shortloop__link__init(&before);
	before.account = drop_const("acme");
	before.owner = drop_const("ann");
	before.domain = drop_const("main");
	before.state = state;
	after = before;
	if (link_move_apply(&move, &before, &after, &err) == 0)
		snprintf(text, sizeof(text), "%s %s %s", after.account,
			 after.owner, after.domain);
	else
		snprintf(text, sizeof(text), "%s", err.text);
	*ret_code = (int)err.code;
	return text;
}

static void a_link_goes_to_who_may_have_it(void **state)
{
	static const struct {
		bool admin;
		const char *owners, *account, *owner, *domain, *says;
		int code;
	} rows[] = {
		{false, NULL, NULL, "bob", NULL, "acme bob main", 0},
		{false, NULL, NULL, "", NULL, "acme  main", 0},
		{false, "ann,bob", NULL, "bob", NULL, "acme bob main", 0},
		{false, "ann", NULL, "bob", NULL,
		 "owner: this API key may not write for it", ERROR_NOT_OWNER},
		{false, "ann", NULL, "", NULL,
		 "owner: this API key may not write for it", ERROR_NOT_OWNER},
		{false, NULL, NULL, NULL, "promo", "acme ann promo", 0},
		{false, NULL, NULL, NULL, "", "acme ann main", 0},
		{false, NULL, NULL, NULL, "bank",
		 "domain: 'bank' is not for the account 'acme', which may use "
		 "main, promo",
		 ERROR_NOT_OWNER},
		{false, NULL, NULL, NULL, "none",
		 "domain: 'none' is not for the account 'acme', which may use "
		 "main, promo",
		 ERROR_NOT_OWNER},
		{false, NULL, "shop", NULL, NULL,
		 "account: it takes an API key with the role 'admin' to give "
		 "a link to another account",
		 ERROR_NOT_OWNER},
		{false, NULL, "acme", NULL, NULL,
		 "account: it takes an API key with the role 'admin' to give "
		 "a link to another account",
		 ERROR_NOT_OWNER},
		{true, NULL, "shop", NULL, NULL, "shop ann main", 0},
		{true, NULL, "shop", "cy", "promo", "shop cy promo", 0},
		{true, NULL, NULL, "bob", "promo", "acme bob promo", 0},
		{true, NULL, "other", NULL, "promo",
		 "domain: 'promo' is not for the account 'other': expected one "
		 "that is",
		 ERROR_INPUT},
		{true, NULL, NULL, NULL, "bank",
		 "domain: 'bank' is not for the account 'acme': expected one "
		 "that is",
		 ERROR_INPUT},
		{true, NULL, NULL, NULL, "none",
		 "domain: expected one of main, promo, bank", ERROR_INPUT},
	};
	int code;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = {0};
		struct key_names *owners =
			rows[i].owners ? key_names_parse(rows[i].owners, &err)
				       : NULL;
		const struct api_key_info key = {
			.roles = rows[i].admin ? API_ADMIN : API_CREATE,
			.account = "acme",
			.owners = owners};
		const char *says = move_link(
			&key, SHORTLOOP__LINK_STATE__LINK_LIVE, rows[i].account,
			rows[i].owner, rows[i].domain, &code);

		if (strcmp(says, rows[i].says) != 0 || code != rows[i].code)
			fail_msg("row %zu: %d, %s", i, code, says);
		key_names_free(owners);
	}
}

static void a_blocked_link_stays_with_its_account(void **state)
{
	const struct api_key_info root = {.roles = API_ADMIN,
					  .account = "root"};
	const Shortloop__LinkState blocked =
		SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	int code;

	(void)state;
	assert_string_equal(
		move_link(&root, blocked, "shop", NULL, NULL, &code),
		"account: a blocked link stays with its account");
	assert_int_equal(code, ERROR_INPUT);
	assert_string_equal(
		move_link(&root, blocked, "acme", "bob", NULL, &code),
		"acme bob main");
}

static void without_domains_a_link_has_none(void **state)
{
	static char nothing[] = "";
	static const struct domains_config none = {.default_domain = nothing};
	const struct api_key_info root = {.roles = API_ADMIN,
					  .account = "root"};
	struct domains *configured = domains;
	struct error err = {0};
	int code;

	(void)state;
	domains = domains_open(&none, NULL, NULL, &err);
	assert_non_null(domains);
	world.defaults.rules.domains = domains;
	assert_string_equal(move_link(&root, SHORTLOOP__LINK_STATE__LINK_LIVE,
				      "shop", NULL, NULL, &code),
			    "shop ann main");
	assert_string_equal(move_link(&root, SHORTLOOP__LINK_STATE__LINK_LIVE,
				      NULL, NULL, "main", &code),
			    "domain: leave it out, none is configured");
	assert_int_equal(code, ERROR_INPUT);
	domains_free(domains);
	domains = configured;
	world.defaults.rules.domains = domains;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_goes_to_who_may_have_it),
		cmocka_unit_test(a_blocked_link_stays_with_its_account),
		cmocka_unit_test(without_domains_a_link_has_none),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
