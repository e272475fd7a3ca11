/* The section `links`: what a file may contain, and what is refused. */
#include "tests/unit/unit.h"

#include <string.h>

#include "codespace/alphabet.h"
#include "codespace/url_code.h"
#include "common/buf.h"
#include "common/config/config.h"
#include "linkstore/config_check.h"

#define KEY(version) "{version: " version ", key: \"env:UNIT_KEY_16\"}"
#define S7	     "{name: s7, number: 1, length: 7, keys: [" KEY("0") "]}"

static const struct setting_group group = {.section = &links_section};
static const struct config_spec spec = {&group, 1, NULL};

/* Reads and checks a section; returns -1 with the error of either step. */
static int check_section(const char *text, struct error *err)
{
	struct links_config config = {0};
	int status = config_load_text(&spec, "it", text, &config, err);

	if (status == 0)
		status = links_config_validate(&config, err);
	config_release(&spec, &config);
	return status;
}

static void assert_taken(const char *text)
{
	struct error err = {0};

	if (check_section(text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void assert_refused(const char *text, const char *says)
{
	struct error err = {0};

	if (check_section(text, &err) == 0)
		fail_msg("%s is taken", text);
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

/* This list of spaces is accepted with the classes of the sample. */
static void spaces_taken(const char *spaces)
{
	char text[2048];

	snprintf(text, sizeof(text), "links: {spaces: [%s]}", spaces);
	assert_taken(text);
}

static void spaces_refused(const char *spaces, const char *says)
{
	char text[2048];

	snprintf(text, sizeof(text), "links: {spaces: [%s]}", spaces);
	assert_refused(text, says);
}

static void classes_taken(const char *classes)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "links: {ttl_classes: [%s], spaces: [" S7 "]}", classes);
	assert_taken(text);
}

static void classes_refused(const char *classes, const char *says)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "links: {ttl_classes: [%s], spaces: [" S7 "]}", classes);
	assert_refused(text, says);
}

static void a_class_lives_from_a_second_to_a_century_or_for_ever(void **state)
{
	(void)state;
	classes_taken("1s");
	classes_taken("1000ms");
	classes_taken("36500d");
	classes_taken("never");
	classes_refused("999ms", "links.ttl_classes: '999ms': expected a "
				 "duration of 1s to 36500d, or never");
	classes_refused("36501d", "'36501d': expected a duration");
	classes_refused("0s", "'0s': expected a duration");
	classes_refused("soon", "'soon': expected a duration");
	classes_refused("10d, -1s", "'-1s': expected a duration");
}

/* Redis' keys contain the text, and the buffer needs room for the NUL. */
static void the_text_of_a_class_has_a_bound(void **state)
{
#define TWENTY "00000000000000000000"
	(void)state;
	classes_taken("\"" TWENTY "10s\"");
	classes_refused("\"" TWENTY "010s\"",
			"'" TWENTY "010s': expected a duration");
#undef TWENTY
}

static void a_class_is_there_once(void **state)
{
	(void)state;
	classes_taken("1d, 2d, 24h");
	classes_refused("1d, 2d, 1d", "links.ttl_classes: 1d is there twice");
	classes_refused("1d, 1d", "links.ttl_classes: 1d is there twice");
	classes_refused("1d, 2d, 2d", "links.ttl_classes: 2d is there twice");
	classes_refused("", "links.ttl_classes: expected at least one");
}

static int check_classes(unsigned count, struct error *err)
{
	struct buf text = {0};
	int status;

	buf_puts(&text, "links: {spaces: [" S7 "], ttl_classes: [");
	for (unsigned i = 1; i <= count; i++)
		buf_printf(&text, "%us,", i);
	buf_puts(&text, "]}");
	status = check_section(buf_cstr(&text), err);
	buf_free(&text);
	return status;
}

static void so_many_classes_are_taken_and_no_more(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(check_classes(1000, &err), 0);
	assert_int_equal(check_classes(1001, &err), -1);
	assert_string_equal(err.text, "links.ttl_classes: there are 1001, at "
				      "most 1000 are taken");
}

static void the_name_of_a_space_is_a_tag_of_keys(void **state)
{
	static const char says[] = "expected a name of 1 to 16 lower-case "
				   "letters and digits";
#define NAMED(name)                                                            \
	"{name: " name ", number: 1, length: 7, keys: [" KEY("0") "]}"

	(void)state;
	spaces_taken(NAMED("a"));
	spaces_taken(NAMED("abcdefghij012345"));
	spaces_refused(NAMED("abcdefghij0123456"), says);
	spaces_refused(NAMED("\"\""), says);
	spaces_refused(NAMED("S7"), "links.spaces: 'S7': expected a name");
	spaces_refused(NAMED("s-7"), says);
	spaces_refused(NAMED("7s."), says);
#undef NAMED
	spaces_refused("", "links.spaces: expected at least one");
}

#define SPACE(strategy, length, keys)                                          \
	"{name: x, number: 1, strategy: " strategy ", length: " length         \
	", keys: [" keys "]}"

static void a_strategy_says_how_long_its_codes_are(void **state)
{
	(void)state;
	spaces_taken(SPACE("sequence", "4", KEY("0")));
	spaces_taken(SPACE("sequence", "11", KEY("0")));
	spaces_refused(SPACE("sequence", "3", KEY("0")),
		       "links.spaces: x: length: codes of strategy sequence "
		       "have 4 to 11 characters, not 3");
	spaces_refused(SPACE("sequence", "12", KEY("0")),
		       "must be from 0 to 11");
	spaces_taken(SPACE("hash", "1", KEY("0")));
	spaces_taken(SPACE("hash", "8", KEY("0")));
	spaces_refused(SPACE("hash", "0", KEY("0")),
		       "strategy hash have 1 to 8 characters, not 0");
	spaces_refused(SPACE("hash", "9", KEY("0")),
		       "strategy hash have 1 to 8 characters, not 9");
	spaces_taken(SPACE("snowflake", "0", KEY("0")));
	spaces_taken(SPACE("snowflake", "11", KEY("0")));
	spaces_refused(SPACE("snowflake", "10", KEY("0")),
		       "length: codes of strategy snowflake always have 11 "
		       "characters");
	spaces_taken(SPACE("alias", "0", ""));
	spaces_refused(SPACE("alias", "5", ""),
		       "length: a space of strategy alias has none: users "
		       "choose");
}

static void a_strategy_says_how_many_keys_there_are(void **state)
{
	static const char four[] =
		KEY("0") ", " KEY("1") ", " KEY("2") ", " KEY("3");
	char text[512];

	(void)state;
	spaces_refused(SPACE("sequence", "7", ""),
		       "links.spaces: x has no keys");
	snprintf(text, sizeof(text), SPACE("sequence", "7", "%s"), four);
	spaces_taken(text);
	snprintf(text, sizeof(text), SPACE("snowflake", "0", "%s"), four);
	spaces_taken(text);
	spaces_refused(SPACE("snowflake", "0", ""), "x has no keys");
	spaces_refused(SPACE("hash", "7", ""), "x has no keys");
	spaces_refused(SPACE("hash", "7", KEY("0") ", " KEY("1")),
		       "links.spaces: x has 2 keys, but a space of strategy "
		       "hash has at most 1");
	spaces_refused(SPACE("alias", "0", KEY("0")),
		       "x has 1 keys, but a space of strategy alias has at "
		       "most 0");
}

static void a_key_has_a_version_of_its_own_and_bytes_enough(void **state)
{
	(void)state;
	spaces_taken(SPACE("sequence", "7", KEY("3") ", " KEY("0")));
	spaces_refused(
		SPACE("sequence", "7", KEY("0") ", " KEY("1") ", " KEY("0")),
		"links.spaces: x has two keys of version 0");
	spaces_refused(SPACE("sequence", "7", KEY("1") ", " KEY("1")),
		       "x has two keys of version 1");
	spaces_refused(SPACE("sequence", "7", KEY("4")), "must be from 0 to 3");
	spaces_refused(SPACE("sequence", "7",
			     KEY("0") ", {version: 1, key: "
				      "\"env:UNIT_KEY_15\"}"),
		       "links.spaces: x: the key of version 1 is shorter than "
		       "16 bytes");
}

static void who_makes_no_codes_says_nothing_of_their_characters(void **state)
{
	(void)state;
	spaces_taken("{name: x, number: 1, length: 7, look_alikes: exclude, "
		     "keys: [" KEY("0") "]}");
	spaces_refused("{name: x, number: 1, strategy: alias, look_alikes: "
		       "exclude}",
		       "links.spaces: x: look_alikes: users choose the "
		       "characters of a space of strategy alias");
	spaces_taken("{name: x, number: 1, length: 7, strategy: hash, "
		     "hash_codes: keyed, keys: [" KEY("0") "]}");
	spaces_taken("{name: x, number: 1, length: 7, hash_codes: as-created, "
		     "keys: [" KEY("0") "]}");
	spaces_refused("{name: x, number: 1, length: 7, hash_codes: keyed, "
		       "keys: [" KEY("0") "]}",
		       "links.spaces: x: hash_codes: a space of strategy "
		       "sequence derives no codes from URLs");
	spaces_refused("{name: x, number: 1, length: 7, hash_codes: "
		       "md5-quarters, keys: [" KEY("0") "]}",
		       "derives no codes from URLs");
}

/* A code belongs to one space, and so does the number in a link id. */
static void two_spaces_share_nothing_by_which_they_are_told_apart(void **state)
{
#define OTHER(name, number, length)                                            \
	S7 ", {name: " name ", number: " number ", length: " length            \
	   ", keys: [" KEY("0") "]}"

	(void)state;
	spaces_taken(OTHER("s8", "2", "8"));
	spaces_refused(OTHER("s7", "2", "8"),
		       "links.spaces: s7 is there twice");
	spaces_refused(OTHER("s8", "1", "8"),
		       "links.spaces: s7 and s8 have one number");
	spaces_refused(OTHER("s8", "2", "7"),
		       "links.spaces: s7 and s8 have one length: a code would "
		       "be either's");
	spaces_refused(OTHER("s8", "2",
			     "8") ", {name: s9, number: 3, length: "
				  "8, strategy: hash, keys: [" KEY("0") "]}",
		       "s8 and s9 have one length");
	/* Snowflakes always have 11 symbols, although the section does not say
	 * so. */
	spaces_refused(OTHER("s11", "2", "11") ", {name: f, number: 3, "
					       "strategy: snowflake, keys: "
					       "[" KEY("0") "]}",
		       "s11 and f have one length");
	spaces_refused(S7 ", {name: a, number: 2, strategy: alias}, {name: b, "
			  "number: 3, strategy: alias}",
		       "links.spaces: a and b are both of strategy alias, of "
		       "which there can be one");
	spaces_refused(S7 ", {name: e, number: 2, strategy: snowflake, keys: "
			  "[" KEY("0") "]}, {name: f, number: 3, strategy: "
				       "snowflake, keys: [" KEY("0") "]}",
		       "e and f are both of strategy snowflake");
	spaces_taken(S7
		     ", {name: a, number: 2, strategy: alias}, {name: f, "
		     "number: 3, strategy: snowflake, keys: [" KEY("0") "]}");
#undef OTHER
}

static void a_reserved_word_is_one_that_could_be_an_alias(void **state)
{
	(void)state;
	assert_taken("links: {reserved_aliases: [shop, Team-1], spaces: "
		     "[" S7 "]}");
	assert_refused("links: {reserved_aliases: [shop, a b], spaces: "
		       "[" S7 "]}",
		       "links.reserved_aliases: 'a b': ");
}

static void what_a_space_says_is_found_in_it(void **state)
{
	char sequence[] = "sequence", hash[] = "hash", flake[] = "snowflake",
	     alias[] = "alias", clear[] = "exclude", keep[] = "keep",
	     keyed[] = "keyed", md5[] = "md5-quarters",
	     created[] = "as-created", name[] = "s7";
	struct links_space_config s = {.name = name, .strategy = sequence};
	const struct links_config all = {.spaces = {&s, 1}};

	(void)state;
	s.length = 7;
	assert_int_equal(links_space_strategy(&s), LINK_SEQUENCE);
	assert_int_equal(links_space_length(&s), 7);
	assert_int_equal(links_space_base(&s), ALPHABET_SIZE);
	assert_int_equal(links_space_hash_codes(&s), -1);
	s.strategy = hash;
	s.look_alikes = clear;
	s.hash_codes = keyed;
	assert_int_equal(links_space_strategy(&s), LINK_HASH);
	assert_int_equal(links_space_length(&s), 7);
	assert_int_equal(links_space_base(&s), ALPHABET_CLEAR);
	assert_int_equal(links_space_hash_codes(&s), URL_CODE_KEYED);
	s.hash_codes = md5;
	s.look_alikes = keep;
	assert_int_equal(links_space_base(&s), ALPHABET_SIZE);
	assert_int_equal(links_space_hash_codes(&s), URL_CODE_MD5_QUARTERS);
	s.hash_codes = created;
	assert_int_equal(links_space_hash_codes(&s), -1);
	s.strategy = flake;
	assert_int_equal(links_space_strategy(&s), LINK_SNOWFLAKE);
	assert_int_equal(links_space_length(&s), 11);
	s.strategy = alias;
	assert_int_equal(links_space_strategy(&s), LINK_ALIAS);
	assert_int_equal(links_space_length(&s), 0);
	assert_true(links_config_has_space(&all, "s7"));
	assert_false(links_config_has_space(&all, "s8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_class_lives_from_a_second_to_a_century_or_for_ever),
		cmocka_unit_test(the_text_of_a_class_has_a_bound),
		cmocka_unit_test(a_class_is_there_once),
		cmocka_unit_test(so_many_classes_are_taken_and_no_more),
		cmocka_unit_test(the_name_of_a_space_is_a_tag_of_keys),
		cmocka_unit_test(a_strategy_says_how_long_its_codes_are),
		cmocka_unit_test(a_strategy_says_how_many_keys_there_are),
		cmocka_unit_test(
			a_key_has_a_version_of_its_own_and_bytes_enough),
		cmocka_unit_test(
			who_makes_no_codes_says_nothing_of_their_characters),
		cmocka_unit_test(
			two_spaces_share_nothing_by_which_they_are_told_apart),
		cmocka_unit_test(a_reserved_word_is_one_that_could_be_an_alias),
		cmocka_unit_test(what_a_space_says_is_found_in_it),
	};

	setenv("UNIT_KEY_16", "0123456789abcdef", 1);
	setenv("UNIT_KEY_15", "0123456789abcde", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
