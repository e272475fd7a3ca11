/* Spaces of every strategy: the parts that need no Redis. */
#include "tests/unit/linkstore/fixture.h"

#include "codespace/snowflake.h"
#include "linkstore/config_check.h"
#include "linkstore/target.h"

static int setup_pure(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_configure(f);
	fixture_open_store(f);
	*state = f;
	return 0;
}

static int setup_pure_all(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_configure_all(f);
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

/* --- spaces of every strategy --------------------------------------------- */

static void must_be_refused(struct fixture *f, const char *because)
{
	must_fail(f, links_config_validate(&f->config, &f->err), ERROR_CONFIG);
	if (!strstr(f->err.text, because))
		fail_msg("not said: %s, but %s", because, f->err.text);
}

static void a_space_of_every_strategy_is_valid(void **state)
{
	struct fixture *f = *state;

	must(f, links_config_validate(&f->config, &f->err));
	f->spaces[2].length = 11;
	must(f, links_config_validate(&f->config, &f->err));
}

static void a_class_lives_from_a_second_to_a_century_or_for_ever(void **state)
{
	static const char *const good[] = {"1s", "36500d", "never"};
	static const char *const bad[] = {"999ms", "36501d", "20000000000d",
					  "1.5d", "x"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		f->classes[1] = text_of(bad[i]);
		must_be_refused(f, "1s to 36500d, or never");
	}
	f->config.ttl_classes.count = 1;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		f->classes[0] = text_of(good[i]);
		must(f, links_config_validate(&f->config, &f->err));
	}
}

static void every_strategy_has_its_lengths(void **state)
{
	static const struct {
		int space;
		int64_t length;
	} bad[] = {{0, 0}, {0, 3}, {1, 0}, {1, 9}, {2, 10}, {3, 5}};
	struct fixture *f = *state;
	int64_t good;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		good = f->spaces[bad[i].space].length;
		f->spaces[bad[i].space].length = bad[i].length;
		must_be_refused(f, "length");
		f->spaces[bad[i].space].length = good;
	}
	must(f, links_config_validate(&f->config, &f->err));
}

static void one_length_is_one_spaces_whatever_the_strategy(void **state)
{
	struct fixture *f = *state;

	f->spaces[1].length = 5;
	must_be_refused(f, "s5 and h6 have one length");
	f->spaces[1].length = 6;
	f->spaces[0].length = 11;
	must_be_refused(f, "s5 and flake have one length");
}

static void there_is_one_space_of_aliases(void **state)
{
	struct fixture *f = *state;

	f->spaces[2] = f->spaces[3];
	f->spaces[2].name = text_of("more");
	f->spaces[2].number = 9;
	must_be_refused(f, "more and alias are both of strategy alias");
}

static void every_strategy_has_the_keys_it_uses(void **state)
{
	struct fixture *f = *state;

	f->spaces[1].keys.count = 2;
	must_be_refused(f, "h6 has 2 keys");
	f->spaces[1].keys.count = 0;
	must_be_refused(f, "h6 has no keys");
	f->spaces[1].keys.count = 1;
	f->spaces[3].keys = f->spaces[1].keys;
	must_be_refused(f, "alias has 1 keys");
	f->spaces[3].keys.count = 0;
	f->spaces[3].look_alikes = text_of("exclude");
	must_be_refused(f, "look_alikes");
}

static void a_reserved_word_is_an_alias(void **state)
{
	char *words[] = {text_of("login"), text_of("no/alias")};
	struct fixture *f = *state;

	f->config.reserved_aliases = (struct setting_strings){words, 1};
	must(f, links_config_validate(&f->config, &f->err));
	f->config.reserved_aliases.count = 2;
	must_be_refused(f, "no/alias");
}

/* --- codes of every strategy ---------------------------------------------- */

static const struct link_space *space_for(struct fixture *f, const char *code)
{
	return linkstore_space_for(f->store, code, strlen(code));
}

static void length_and_characters_tell_the_space(void **state)
{
	struct fixture *f = *state;

	assert_ptr_equal(space_for(f, "abcde"), f->space);
	assert_ptr_equal(space_for(f, "abcdef"), f->hash);
	assert_ptr_equal(space_for(f, "abcdefghijk"), f->snowflake);
	assert_ptr_equal(space_for(f, "abcd"), f->alias);
	assert_ptr_equal(space_for(f, "ab-de"), f->alias);
	assert_ptr_equal(space_for(f, "abcde_"), f->alias);
	assert_null(space_for(f, ""));
	assert_null(space_for(f, "a23456789b123456789c123456789d123456789"
				 "e123456789f123456789g12345"));
}

static const struct url_code_subject of = {"crm", "shop", "https://a.example/",
					   18};

static void how_hash_codes_are_made_is_known_from_the_record(void **state)
{
	struct fixture *f = *state;
	struct link_target made, found;

	must_fail(f, linkstore_hash_code(f->hash, &of, 0, &made, &f->err),
		  ERROR_NOTFOUND);
	assert_true(linkstore_locate(f->store, "abcdef", 6, &found));
	linkstore_note_hash_codes(f->hash, URL_CODE_MD5_QUARTERS);
	must(f, linkstore_hash_code(f->hash, &of, 0, &made, &f->err));
	assert_true(linkstore_locate(f->store, made.code, 6, &found));
	assert_true(linkstore_locate(f->store, "abcdef", 6, &found));
	linkstore_note_hash_codes(f->hash, URL_CODE_KEYED);
	assert_false(linkstore_locate(f->store, made.code, 6, &found));
	must(f, linkstore_hash_code(f->hash, &of, 0, &made, &f->err));
	assert_true(linkstore_locate(f->store, made.code, 6, &found));
}

static void invented_hash_codes_are_refused(void **state)
{
	struct fixture *f = *state;
	struct link_target made, found;
	unsigned accepted = 0;
	const char *symbols = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcd"
			      "efghijkmnopqrstuvwxyz";

	linkstore_note_hash_codes(f->hash, URL_CODE_KEYED);
	must(f, linkstore_hash_code(f->hash, &of, 0, &made, &f->err));
	/* Each check character is a possible one, as when a stranger guesses
	 * codes. */
	for (int i = 0; i < 57 * 57 * 57; i++) {
		made.code[0] = symbols[i % 57];
		made.code[2] = symbols[i / 57 % 57];
		made.code[4] = symbols[i / 57 / 57];
		accepted += linkstore_locate(f->store, made.code, 6, &found);
	}
	/* One in 14: 13,228, standard deviation 111. */
	assert_in_range(accepted, 12600, 13900);
}

static void only_hash_spaces_have_a_way_to_make_hash_codes(void **state)
{
	struct fixture *f = *state;

	f->spaces[1].hash_codes = text_of("md5-quarters");
	must(f, links_config_validate(&f->config, &f->err));
	f->spaces[0].hash_codes = text_of("as-created");
	must(f, links_config_validate(&f->config, &f->err));
	f->spaces[0].hash_codes = text_of("keyed");
	must_be_refused(f, "hash_codes");
}

static void a_hash_code_is_found_by_its_characters(void **state)
{
	struct fixture *f = *state;
	struct link_target made, found;

	linkstore_note_hash_codes(f->hash, URL_CODE_KEYED);
	must(f, linkstore_hash_code(f->hash, &of, 0, &made, &f->err));
	assert_int_equal(strlen(made.code), 6);
	assert_true(linkstore_locate(f->store, made.code, 6, &found));
	assert_ptr_equal(found.space, f->hash);
	assert_string_equal(found.code, made.code);
	/* The space excludes look-alike characters. */
	assert_false(linkstore_locate(f->store, "abcde0", 6, &found));
}

static uint64_t flake_of(int64_t ms)
{
	return (uint64_t)(ms - SNOWFLAKE_EPOCH) << 22 | 5 << 12 | 7;
}

static void a_snowflake_code_leads_to_its_id(void **state)
{
	struct fixture *f = *state;
	uint64_t id = flake_of(clock_real_ms());
	struct link_target made, found;

	linkstore_snowflake_code(f->snowflake, id, &made);
	assert_true(linkstore_locate(f->store, made.code, 11, &found));
	assert_ptr_equal(found.space, f->snowflake);
	assert_true(found.id == id);
}

static void a_snowflake_of_the_future_was_not_made(void **state)
{
	struct fixture *f = *state;
	struct link_target t;

	linkstore_snowflake_code(f->snowflake,
				 flake_of(clock_real_ms() + 30000), &t);
	assert_true(linkstore_locate(f->store, t.code, 11, &t));
	linkstore_snowflake_code(f->snowflake,
				 flake_of(clock_real_ms() + 90000), &t);
	assert_false(linkstore_locate(f->store, t.code, 11, &t));
}

/* This host's clock may be behind, or that of Redis, which allocators use. */
static void a_snowflake_is_past_by_either_clock(void **state)
{
	struct fixture *f = *state;
	int64_t now = clock_real_ms(), ahead = now + 2 * CLOCK_HOUR;
	struct link_target t;

	linkstore_note_clock(f->snowflake, ahead);
	linkstore_snowflake_code(f->snowflake, flake_of(ahead), &t);
	assert_true(linkstore_locate(f->store, t.code, 11, &t));
	linkstore_snowflake_code(f->snowflake, flake_of(ahead + 90000), &t);
	assert_false(linkstore_locate(f->store, t.code, 11, &t));
	linkstore_note_clock(f->snowflake, now - CLOCK_DAY);
	linkstore_snowflake_code(f->snowflake, flake_of(now), &t);
	assert_true(linkstore_locate(f->store, t.code, 11, &t));
}

/* The noted clock advances with the time since, and each space has its own. */
static void the_clock_is_redis_where_it_was_noted(void **state)
{
	struct fixture *f = *state;
	int64_t now = linkstore_now_ms(f->space);

	assert_true(now <= clock_real_ms() &&
		    now > clock_real_ms() - CLOCK_MINUTE);
	linkstore_note_clock(f->space, 1000);
	now = linkstore_now_ms(f->space);
	assert_true(now >= 1000 && now < CLOCK_MINUTE);
	assert_true(linkstore_now_ms(f->alias) > CLOCK_DAY);
}

static void case_makes_another_alias(void **state)
{
	struct fixture *f = *state;
	struct link_target t;

	assert_true(linkstore_locate(f->store, "Sale-2026", 9, &t));
	assert_string_equal(t.code, "Sale-2026");
	assert_true(linkstore_locate(f->store, "sale-2026", 9, &t));
	assert_string_equal(t.code, "sale-2026");
	assert_false(linkstore_locate(f->store, "sale 2026", 9, &t));
}

static int try_alias(struct fixture *f, const char *alias)
{
	struct link_target t;

	return linkstore_alias(f->store, alias, strlen(alias), &t, &f->err);
}

static void an_alias_may_not_be_a_generated_code_to_come(void **state)
{
	struct fixture *f = *state;

	must(f, try_alias(f, "sale"));
	must(f, try_alias(f, "sa-le"));
	must_fail(f, try_alias(f, "sales"), ERROR_TAKEN);
	must_fail(f, try_alias(f, "sale26"), ERROR_TAKEN);
	must_fail(f, try_alias(f, "summer-sale!"), ERROR_INPUT);
	must_fail(f, try_alias(f, ""), ERROR_INPUT);
}

static void a_reserved_word_is_nobodys_alias(void **state)
{
	char *words[] = {text_of("Checkout")};
	struct fixture *f = *state;

	f->config.reserved_aliases = (struct setting_strings){words, 1};
	must_fail(f, try_alias(f, "checkout"), ERROR_TAKEN);
	must_fail(f, try_alias(f, "API"), ERROR_TAKEN);
}

static void without_a_space_for_them_there_are_no_aliases(void **state)
{
	struct fixture *f = *state;
	struct link_target t;

	must_fail(f, try_alias(f, "sale"), ERROR_NOTFOUND);
	assert_false(linkstore_locate(f->store, "sale", 4, &t));
}

#define PURE_ALL(name)                                                         \
	cmocka_unit_test_setup_teardown(name, setup_pure_all, teardown_pure)
#define PURE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_pure, teardown_pure)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PURE_ALL(a_space_of_every_strategy_is_valid),
		PURE_ALL(a_class_lives_from_a_second_to_a_century_or_for_ever),
		PURE_ALL(every_strategy_has_its_lengths),
		PURE_ALL(one_length_is_one_spaces_whatever_the_strategy),
		PURE_ALL(there_is_one_space_of_aliases),
		PURE_ALL(every_strategy_has_the_keys_it_uses),
		PURE_ALL(a_reserved_word_is_an_alias),
		PURE_ALL(length_and_characters_tell_the_space),
		PURE_ALL(a_hash_code_is_found_by_its_characters),
		PURE_ALL(how_hash_codes_are_made_is_known_from_the_record),
		PURE_ALL(invented_hash_codes_are_refused),
		PURE_ALL(only_hash_spaces_have_a_way_to_make_hash_codes),
		PURE_ALL(a_snowflake_code_leads_to_its_id),
		PURE_ALL(a_snowflake_of_the_future_was_not_made),
		PURE_ALL(a_snowflake_is_past_by_either_clock),
		PURE_ALL(the_clock_is_redis_where_it_was_noted),
		PURE_ALL(case_makes_another_alias),
		PURE_ALL(an_alias_may_not_be_a_generated_code_to_come),
		PURE_ALL(a_reserved_word_is_nobodys_alias),
		PURE(without_a_space_for_them_there_are_no_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
