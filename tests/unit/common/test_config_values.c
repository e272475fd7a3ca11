/* Values at both ends of their ranges, as they are read, printed and described;
 * and invalid files. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <string.h>

#include "common/clock.h"
#include "common/config/config.h"
#include "common/config/config_print.h"
#include "common/config/secret.h"

struct server {
	char *name;
};

struct sample {
	char *address;
	char *place;
	char *mode;
	char *password;
	int64_t timeout, limit, count, least;
	bool quick;
	struct setting_strings brokers, options;
	struct setting_list servers;
};

static const char *const modes[] = {"fast", "safe", NULL};

static bool is_secret(const char *name)
{
	return !strcmp(name, "password");
}

#define SETTING_STRUCT struct server
static const struct setting server_settings[] = {
	SETTING_STRING(name, REQUIRED, AT_START, "What it is called."),
	{0},
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct sample
static const struct setting settings[] = {
	SETTING_STRING(address, "here", AT_START, "Where."),
	SETTING_PATH(place, OPTIONAL, AT_START, "Which file."),
	SETTING_ENUM(mode, "safe", modes, AT_START, "Which way."),
	SETTING_SECRET(password, OPTIONAL, AT_START, "What opens it."),
	SETTING_DURATION(timeout, "30s", CLOCK_SECOND, CLOCK_HOUR, AT_START,
			 "How long."),
	SETTING_SIZE(limit, "16KiB", 0, 0, AT_START, "How much."),
	SETTING_INT(count, "4", 1, 64, AT_START, "How many."),
	SETTING_INT(least, "5", 5, 0, AT_START, "How many at least."),
	SETTING_BOOL(quick, "false", AT_START, "Whether to hurry."),
	SETTING_STRINGS(brokers, "a, b", AT_START, "Where they are."),
	SETTING_OPTIONS(options, OPTIONAL, is_secret, AT_START, "Others."),
	SETTING_LIST(servers, "[]", struct server, server_settings, AT_START,
		     "Who takes part."),
	{0},
};
static const struct setting_section section = {
	.name = "part",
	.help = "A part.",
	.settings = settings,
};
static const struct setting_group groups[] = {{.section = &section}};
static const struct config_spec spec = {groups, 1, NULL};

static void assert_refused(const char *yaml, const char *says)
{
	struct sample config = {0};
	struct error err = {0};

	if (config_load_text(&spec, "it", yaml, &config, &err) == 0)
		fail_msg("%s is taken", yaml);
	config_release(&spec, &config);
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

/* Returns the print of a file. */
static char *print_settings(const char *yaml)
{
	struct sample config = {0};
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	if (config_load_text(&spec, "it", yaml, &config, &err) < 0)
		fail_msg("%s: %s", yaml, err.text);
	config_print(&spec, &config, out);
	config_release(&spec, &config);
	fclose(out);
	return text;
}

/* The setting must be accepted, and printed like this. */
static void is_printed(const char *setting, const char *line)
{
	char yaml[512], want[512], *text;

	snprintf(yaml, sizeof(yaml), "part:\n  %s\n", setting);
	snprintf(want, sizeof(want), "\n  %s\n", line);
	text = print_settings(yaml);
	if (!strstr(text, want))
		fail_msg("'%s' is not in:\n%s", line, text);
	free(text);
}

static void a_size_has_the_greatest_unit_that_divides_it(void **state)
{
	(void)state;
	is_printed("limit: 0", "limit: 0");
	is_printed("limit: 1B", "limit: 1");
	is_printed("limit: 1025", "limit: 1025");
	is_printed("limit: 1024", "limit: 1KiB");
	is_printed("limit: 1536KiB", "limit: 1536KiB");
	is_printed("limit: 2048KiB", "limit: 2MiB");
	is_printed("limit: 1024MiB", "limit: 1GiB");
	is_printed("limit: 2048GiB", "limit: 2048GiB");
	is_printed("limit: 8589934591GiB", "limit: 8589934591GiB");
	is_printed("limit: 9223372036854775807", "limit: 9223372036854775807");
	is_printed("timeout: 60s", "timeout: 1m");
	is_printed("count: 64", "count: 64");
}

static void a_number_that_is_none_or_too_great_is_refused(void **state)
{
	(void)state;
	assert_refused("part: {limit: 8589934592GiB}", "expected a size");
	assert_refused("part: {limit: 9223372036854775808}", "expected a size");
	assert_refused("part: {limit: -1}", "expected a size");
	assert_refused("part: {limit: KiB}", "expected a size");
	assert_refused("part: {limit: 1kB}", "expected a size");
	assert_refused("part: {count: 9223372036854775808}",
		       "expected a whole number");
	assert_refused("part: {count: 4x}", "expected a whole number");
	assert_refused("part: {count: x}", "expected a whole number");
	assert_refused("part: {count: \"\"}", "expected a whole number");
}

static void a_range_has_both_its_ends(void **state)
{
	(void)state;
	is_printed("count: 1", "count: 1");
	is_printed("count: 64", "count: 64");
	assert_refused("part: {count: 0}", "must be from 1 to 64");
	assert_refused("part: {count: 65}", "must be from 1 to 64");
	is_printed("timeout: 1s", "timeout: 1s");
	is_printed("timeout: 1h", "timeout: 1h");
	assert_refused("part: {timeout: 999ms}", "must be from 1s to 1h");
	assert_refused("part: {timeout: 3601s}", "must be from 1s to 1h");
	is_printed("least: 5", "least: 5");
	is_printed("least: 9223372036854775807", "least: 9223372036854775807");
	assert_refused("part: {least: 4}", "must be at least 5");
}

static void a_text_is_quoted_where_it_has_to_be(void **state)
{
	(void)state;
	is_printed("address: \"127.0.0.1:80\"", "address: 127.0.0.1:80");
	is_printed("address: \"a:b:c\"", "address: a:b:c");
	is_printed("address: \"a:\"", "address: \"a:\"");
	is_printed("address: \"a::b\"", "address: a::b");
	is_printed("address: \"a: b\"", "address: \"a: b\"");
	is_printed("address: \":a\"", "address: \":a\"");
	is_printed("address: \"-a\"", "address: \"-a\"");
	is_printed("address: \"a-\"", "address: a-");
	is_printed("address: \"\"", "address: \"\"");
	is_printed("address: \"a b\"", "address: \"a b\"");
	is_printed("address: \"a\\tb\"", "address: \"a\\x09b\"");
	is_printed("address: 'a\"b\\c'", "address: \"a\\\"b\\\\c\"");
	is_printed("address: \"017\"", "address: \"017\"");
	is_printed("address: \"018\"", "address: 018");
	is_printed("address: \"0\"", "address: 0");
}

static void what_is_not_given_is_null_or_the_fallback(void **state)
{
	(void)state;
	is_printed("place:", "place: null");
	is_printed("password: ~", "password: null");
	is_printed("count: null", "count: 4");
	is_printed("address: ''", "address: \"\"");
	/* This is a text only because of its quotes. */
	is_printed("address: 'null'", "address: \"null\"");
	is_printed("address: '~'", "address: \"~\"");
	is_printed("brokers: []", "brokers: []");
	is_printed("brokers:", "brokers: [a, b]");
	is_printed("servers:", "servers: []");
	is_printed("quick: yes", "quick: true");
	is_printed("quick: no", "quick: false");
	is_printed("mode: fast", "mode: fast");
}

/* No known option has so long a name, so its value may be a secret. */
static void an_option_with_an_endless_name_is_a_secret(void **state)
{
	char name[129], yaml[256], line[256];

	(void)state;
	memset(name, 'a', 128);
	name[128] = '\0';
	snprintf(yaml, sizeof(yaml), "part: {options: [%s=x]}", name);
	assert_refused(yaml, "never as itself");
	name[127] = '\0';
	snprintf(yaml, sizeof(yaml), "options: [%s=x]", name);
	snprintf(line, sizeof(line), "options: [\"%s=x\"]", name);
	is_printed(yaml, line);
	is_printed("options: [a=]", "options: [\"a=\"]");
	assert_refused("part: {options: [=x]}", "expected name=value");
	is_printed("options: ['u=https://host/']",
		   "options: [\"u=https://host/\"]");
	is_printed("options: [u=a@b]", "options: [\"u=a@b\"]");
}

static void a_setting_says_what_it_may_be(void **state)
{
	static const char *const said[] = {
		".It Ic address\nWhere.\n.Pq text; default here\n",
		".It Ic place\nWhich file.\n.Pq path\n",
		".It Ic mode\nWhich way.\n.Pq one of fast, safe; default "
		"safe\n",
		".It Ic password\nWhat opens it.\n.Pq secret: " SECRET_FORMS
		"\n",
		".It Ic timeout\nHow long.\n.Pq duration, at least 1s, at most "
		"1h; default 30s\n",
		".It Ic limit\nHow much.\n.Pq size; default 16KiB\n",
		".It Ic count\nHow many.\n.Pq whole number, at least 1, at "
		"most "
		"64; default 4\n",
		".It Ic least\nHow many at least.\n.Pq whole number, at least "
		"5; default 5\n",
		".It Ic quick\nWhether to hurry.\n.Pq true or false; default "
		"false\n",
		".It Ic brokers\nWhere they are.\n.Pq list of texts; default "
		"a, b\n",
		".It Ic servers\nWho takes part.\n.Pq list of mappings; "
		"default []\nEach item:\n.Bl -tag -width Ds\n"
		".It Ic name\nWhat it is called.\n.Pq text; required\n.El\n"
		".El\n",
		".Ss Section part\nA part.\n.Bl -tag -width Ds\n.It Ic address",
	};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	config_print_man(&spec, out);
	fclose(out);
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (!strstr(text, said[i]))
			fail_msg("'%s' is not in:\n%s", said[i], text);
	free(text);
}

static void what_is_no_file_of_settings_is_refused_where_it_is(void **state)
{
	(void)state;
	assert_refused("- part\n", "it:1:1: (document): expected sections "
				   "such as 'redis:'");
	assert_refused("part\n", "it:1:1: (document): expected sections");
	assert_refused("part: {[a]: 1}\n",
		       "it:1:8: (key): a key must be plain text");
	assert_refused("part: {\"count\\0\": 1}\n",
		       "it:1:8: (key): a key must be plain text");
	assert_refused("part: {address: \"a\\0b\"}\n",
		       "it:1:17: part.address: expected a single value");
	assert_refused("part: {servers: x}\n",
		       "it:1:17: part.servers: expected a list of mappings");
	assert_refused("part: {servers: [{name: a}, b]}\n",
		       "it:1:29: part.servers[1]: expected a mapping");
	assert_refused("part: {brokers: [a, [b]]}\n",
		       "it:1:21: part.brokers: expected a text");
	assert_refused("part: {brokers: [a, \"b\\0c\"]}\n",
		       "it:1:21: part.brokers: expected a text");
}

static void a_key_is_given_once_wherever_it_stands(void **state)
{
	(void)state;
	assert_refused("part: {count: 1, mode: fast, address: x, count: 2}\n",
		       "it:1:42: count: given twice, first in line 1");
	assert_refused("part:\n  count: 1\n  mode: fast\n  count: 2\n"
		       "  count: 3\n",
		       "it:4:3: count: given twice, first in line 2");
	assert_refused("part: {}\nother: {}\npart: {}\n",
		       "it:3:1: part: given twice, first in line 1");
	assert_refused("part: {servers: [{name: a, name: b}]}\n",
		       "name: given twice");
}

/* --- rules of a section, and fallbacks ------------------------------------ */

static int refuse_many(const void *of, struct error *err)
{
	const struct sample *s = of;

	return s->count > 9 ? error_set(err, ERROR_CONFIG, "too many") : 0;
}

static const struct setting few[] = {
	SETTING_INT(count, "10", 1, 64, AT_START, "How many."),
	{0},
};
static const struct setting_section ruled = {
	.name = "part",
	.help = "A part.",
	.settings = few,
	.check = refuse_many,
};

static int load_as(const struct setting_group *group, const char *yaml,
		   struct error *err)
{
	const struct config_spec one = {group, 1, NULL};
	struct sample config = {0};
	int status = config_load_text(&one, "it", yaml, &config, err);

	config_release(&one, &config);
	return status;
}

static void a_sections_rule_holds_where_the_section_is_ones_own(void **state)
{
	const struct setting_group own = {.section = &ruled},
				   lent = {.section = &ruled, .borrowed = true},
				   maybe = {.section = &ruled,
					    .optional = true};
	struct error err = {0};

	(void)state;
	assert_int_equal(load_as(&own, "part: {count: 9}\n", &err), 0);
	assert_int_equal(load_as(&own, "part: {count: 10}\n", &err), -1);
	assert_string_equal(err.text, "it: too many");
	assert_int_equal(load_as(&own, "", &err), -1);
	assert_int_equal(load_as(&lent, "part: {count: 10}\n", &err), 0);
	assert_int_equal(load_as(&maybe, "part: {count: 10}\n", &err), -1);
	assert_int_equal(load_as(&maybe, "part:\n", &err), 0);
	assert_int_equal(load_as(&maybe, "", &err), 0);
}

static void a_fallback_that_is_no_value_is_told(void **state)
{
	static const struct setting bad[] = {
		SETTING_INT(count, "many", 1, 64, AT_START, "How many."),
		{0},
	};
	const struct setting_section with_bad = {
		.name = "part", .help = "A part.", .settings = bad};
	const struct setting_group group = {.section = &with_bad};
	struct error err = {0};

	(void)state;
	assert_int_equal(load_as(&group, "", &err), -1);
	assert_string_equal(err.text, "it: part.count: expected a whole "
				      "number, not 'many'");
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct sample config = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(config_load(&spec, "/nowhere/x", &config, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "/nowhere/x: cannot read the "
					 "configuration: "));
}

/* --- secrets -------------------------------------------------------------- */

static void secret_refused(const char *reference, const char *says)
{
	struct error err = {0};
	char *secret = NULL;

	assert_int_equal(secret_read(reference, &secret, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_null(secret);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void a_file_of_a_secret_has_one(void **state)
{
	char path[64], reference[80];
	FILE *out;

	(void)state;
	unit_write_file("\r\n\n", path);
	snprintf(reference, sizeof(reference), "file:%s", path);
	secret_refused(reference, "is empty");
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite("a\0b", 1, 3, out), 3);
	fclose(out);
	secret_refused(reference, "has a zero byte");
	unlink(path);
}

static void a_credential_is_named_as_a_file_of_its_folder(void **state)
{
	static char folder[PATH_MAX + 1];

	(void)state;
	setenv("CREDENTIALS_DIRECTORY", "/nowhere", 1);
	secret_refused("credential:", "'' is no name of a credential");
	secret_refused("credential:.", "'.' is no name of a credential");
	secret_refused("credential:..", "is no name of a credential");
	secret_refused("credential:a/b", "'a/b' is no name of a credential");
	secret_refused("credential:a", "/nowhere/a: No such file");
	memset(folder, 'x', PATH_MAX - 3);
	setenv("CREDENTIALS_DIRECTORY", folder, 1);
	/* With the slash and the NUL, the path is too long by one byte. */
	secret_refused("credential:ab", "the path of a credential is too long");
	secret_refused("credential:a", "cannot read the secret");
	setenv("CREDENTIALS_DIRECTORY", "", 1);
	secret_refused("credential:a", "there is no $CREDENTIALS_DIRECTORY");
	unsetenv("CREDENTIALS_DIRECTORY");
	secret_refused("credential:a", "there is no $CREDENTIALS_DIRECTORY");
}

static void only_a_reference_is_one(void **state)
{
	(void)state;
	assert_true(secret_is_reference("file:x"));
	assert_true(secret_is_reference("credential:x"));
	assert_true(secret_is_reference("env:x"));
	assert_false(secret_is_reference("files:x"));
	assert_false(secret_is_reference("fil"));
	assert_false(secret_is_reference("hunter2"));
	secret_refused("hunter2", "a secret is written " SECRET_FORMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_has_the_greatest_unit_that_divides_it),
		cmocka_unit_test(a_number_that_is_none_or_too_great_is_refused),
		cmocka_unit_test(a_range_has_both_its_ends),
		cmocka_unit_test(a_text_is_quoted_where_it_has_to_be),
		cmocka_unit_test(what_is_not_given_is_null_or_the_fallback),
		cmocka_unit_test(an_option_with_an_endless_name_is_a_secret),
		cmocka_unit_test(a_setting_says_what_it_may_be),
		cmocka_unit_test(
			what_is_no_file_of_settings_is_refused_where_it_is),
		cmocka_unit_test(a_key_is_given_once_wherever_it_stands),
		cmocka_unit_test(
			a_sections_rule_holds_where_the_section_is_ones_own),
		cmocka_unit_test(a_fallback_that_is_no_value_is_told),
		cmocka_unit_test(a_file_that_is_not_there_is_named),
		cmocka_unit_test(a_file_of_a_secret_has_one),
		cmocka_unit_test(a_credential_is_named_as_a_file_of_its_folder),
		cmocka_unit_test(only_a_reference_is_one),
	};

	return cmocka_run_group_tests_name("config_values", tests, NULL, NULL);
}
