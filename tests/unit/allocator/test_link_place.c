/* Which domain and space a link gets, and which account they belong to. */
#include "allocator/link/link_place.h"
#include "common/keys/key_names.h"
#include "tests/unit/allocator/link_world.h"
#include "tests/unit/allocator/place_domains.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct link_world world;
static struct domains *domains;

static int open_domains(const char *chosen, struct error *err)
{
	domains_free(domains);
	domains = place_domains_open(chosen, 4, err);
	if (!domains)
		return -1;
	world.defaults.rules.domains = domains;
	return 0;
}

static int set_up(void **state)
{
	struct error err = {0};

	(void)state;
	return link_world_open(&world, &err) || open_domains("main", &err);
}

static int tear_down(void **state)
{
	(void)state;
	domains_free(domains);
	domains = NULL;
	link_world_close(&world);
	return 0;
}

static struct api_key_info key_of(const char *account)
{
	struct api_key_info key = {.roles = API_CREATE};

	if (!strcmp(account, "root"))
		key.roles = API_ADMIN;
	snprintf(key.account, sizeof(key.account), "%s", account);
	return key;
}

/* Returns the chosen place, or the reason of the refusal; NULL names are not
 * given. */
static const char *describe_chosen_place(const struct api_key_info *key,
					 const char *domain, const char *space,
					 const char *code, int *ret_code)
{
	static char text[600];
	struct error err = {0};
	struct link_fields f = {
		.url = "",
		.domain_name = domain ? domain : "",
		.space_name = space ? space : "",
		.code = code ? code : "",
		.ttl = linkstore_class_named(world.store, "10d"),
		.given = (domain ? FIELD_DOMAIN : 0U) |
			 (space ? FIELD_SPACE : 0U),
	};
	int status = link_place_choose(&f, &world.defaults, key, &err);

	*ret_code = (int)err.code;
	snprintf(text, sizeof(text), "%s",
		 status < 0 ? err.text : f.space->name);
	if (status == 0 && f.domain)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " %s", f.domain->name);
	return text;
}

static void a_domain_is_its_accounts(void **state)
{
	static const struct {
		const char *account, *domain, *says;
		int code;
	} rows[] = {
		{"root", NULL, "s7 main", 0},
		{"root", "bank", "s7 bank", 0},
		{"root", "promo", "s7 promo", 0},
		{"root", "bakn",
		 "domain: expected one of main, promo, bank, common",
		 ERROR_INPUT},
		{"acme", NULL, "s7 main", 0},
		{"acme", "main", "s7 main", 0},
		{"acme", "promo", "s7 promo", 0},
		{"acme", "common", "s7 common", 0},
		{"acme", "bank",
		 "domain: 'bank' is not for the account 'acme', which may use "
		 "main, promo, common",
		 ERROR_NOT_OWNER},
		/* The message is the same as for an unknown domain. */
		{"acme", "bakn",
		 "domain: 'bakn' is not for the account 'acme', which may use "
		 "main, promo, common",
		 ERROR_NOT_OWNER},
		{"acme", "",
		 "domain: '' is not for the account 'acme', which may use "
		 "main, promo, common",
		 ERROR_NOT_OWNER},
		{"acme", "PROMO",
		 "domain: 'PROMO' is not for the account 'acme', which may use "
		 "main, promo, common",
		 ERROR_NOT_OWNER},
		{"ann", "promo",
		 "domain: 'promo' is not for the account 'ann', which may use "
		 "main, common",
		 ERROR_NOT_OWNER},
		{"ann", "common", "s7 common", 0},
		{"*", "promo",
		 "domain: 'promo' is not for the account '*', which may use "
		 "main, common",
		 ERROR_NOT_OWNER},
	};
	int code;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct api_key_info key = key_of(rows[i].account);

		assert_string_equal(describe_chosen_place(&key, rows[i].domain,
							  NULL, NULL, &code),
				    rows[i].says);
		assert_int_equal(code, rows[i].code);
	}
}

static void a_default_domain_may_be_of_some(void **state)
{
	struct api_key_info acme = key_of("acme"), ann = key_of("ann");
	struct error err = {0};
	int code;

	(void)state;
	assert_int_equal(open_domains("promo", &err), 0);
	assert_string_equal(
		describe_chosen_place(&acme, NULL, NULL, NULL, &code),
		"s7 promo");
	assert_string_equal(
		describe_chosen_place(&ann, NULL, NULL, NULL, &code),
		"domain: the default one is not for the account "
		"'ann', which may use common");
	assert_int_equal(code, ERROR_NOT_OWNER);
	/* The domain is no longer the default. */
	describe_chosen_place(&ann, "main", NULL, NULL, &code);
	assert_int_equal(code, ERROR_NOT_OWNER);
}

static void without_domains_there_is_one_place_for_all(void **state)
{
	static const struct domains_config none = {.file = NULL};
	struct api_key_info ann = key_of("ann");
	struct error err = {0};
	struct domains *empty = domains_open(&none, NULL, NULL, &err);
	int code;

	(void)state;
	world.defaults.rules.domains = empty;
	assert_string_equal(
		describe_chosen_place(&ann, NULL, NULL, NULL, &code), "s7");
	assert_string_equal(
		describe_chosen_place(&ann, "main", NULL, NULL, &code),
		"domain: leave it out, none is configured");
	assert_int_equal(code, ERROR_INPUT);
	assert_true(link_place_is_open(empty, &ann, ""));
	assert_true(link_place_is_open(empty, &ann, "main"));
	domains_free(empty);
}

static void who_lost_a_domain_does_not_edit_there(void **state)
{
	struct api_key_info root = key_of("root"), acme = key_of("acme"),
			    ann = key_of("ann");
	struct error err = {0};

	(void)state;
	assert_true(link_place_is_open(domains, &acme, "promo"));
	assert_false(link_place_is_open(domains, &ann, "promo"));
	assert_false(link_place_is_open(domains, &ann, "bank"));
	assert_true(link_place_is_open(domains, &root, "bank"));
	/* A link without a domain belongs to the default one; a removed domain
	 * is open to no account. */
	assert_true(link_place_is_open(domains, &ann, ""));
	assert_false(link_place_is_open(domains, &ann, "gone"));
	assert_true(link_place_is_open(domains, &root, "gone"));
	assert_int_equal(open_domains("promo", &err), 0);
	assert_false(link_place_is_open(domains, &ann, ""));
	assert_true(link_place_is_open(domains, &acme, ""));
}

/* Returns a key with these spaces in its own line, or in the account's. */
static struct api_key_info key_with(const char *own, const char *of_account,
				    struct account_rules *rules)
{
	struct api_key_info key = key_of("acme");
	struct error err = {0};

	*rules = (struct account_rules){.ttl = ""};
	snprintf(rules->spaces, sizeof(rules->spaces), "%s", of_account);
	key.rules = rules;
	key.spaces = *own ? key_names_parse(own, &err) : NULL;
	return key;
}

static void a_space_is_for_those_whose_lines_name_it(void **state)
{
	static const struct {
		const char *own, *of_account, *space, *code, *says;
		int error;
	} rows[] = {
		{"", "", NULL, NULL, "s7 main", 0},
		{"", "", "s8", NULL, "s8 main", 0},
		{"", "", NULL, "sale", "names main", 0},
		{"", "", "s9", NULL, "space: expected one of s7, s8, names",
		 ERROR_INPUT},
		/* A single permitted space is chosen without a name. */
		{"s8", "", NULL, NULL, "s8 main", 0},
		{"", "s8", NULL, NULL, "s8 main", 0},
		{"s7,s8", "s8,names", NULL, NULL, "s8 main", 0},
		{"s8", "", "s8", NULL, "s8 main", 0},
		{"s8", "", "s7", NULL,
		 "space: 's7' is not for this API key, which may use s8",
		 ERROR_NOT_OWNER},
		{"s8", "", "s9", NULL,
		 "space: 's9' is not for this API key, which may use s8",
		 ERROR_NOT_OWNER},
		{"", "s8", "s7", NULL,
		 "space: 's7' is not for this API key, which may use s8",
		 ERROR_NOT_OWNER},
		{"s7", "s8", "s7", NULL,
		 "space: 's7' is not for this API key, which may use none",
		 ERROR_NOT_OWNER},
		{"s8", "", NULL, "sale",
		 "space: this API key may use s8, and no link like this is "
		 "made there",
		 ERROR_NOT_OWNER},
		{"names", "", NULL, NULL,
		 "space: this API key may use names, and no link like this is "
		 "made there",
		 ERROR_NOT_OWNER},
		{"names", "", NULL, "sale", "names main", 0},
		{"names", "", "names", NULL, "code: is required in space names",
		 ERROR_INPUT},
	};
	struct account_rules rules;
	int code;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct api_key_info key =
			key_with(rows[i].own, rows[i].of_account, &rules);

		assert_string_equal(describe_chosen_place(&key, NULL,
							  rows[i].space,
							  rows[i].code, &code),
				    rows[i].says);
		assert_int_equal(code, rows[i].error);
		key_names_free((struct key_names *)(uintptr_t)key.spaces);
	}
}

#define WITH_WORLD(test)                                                       \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(a_domain_is_its_accounts),
		WITH_WORLD(a_default_domain_may_be_of_some),
		WITH_WORLD(without_domains_there_is_one_place_for_all),
		WITH_WORLD(who_lost_a_domain_does_not_edit_there),
		WITH_WORLD(a_space_is_for_those_whose_lines_name_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
