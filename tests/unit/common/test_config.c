#include "tests/unit/unit.h"

#include <string.h>

#include "common/clock.h"
#include "common/config/config.h"
#include "common/config/config_print.h"

struct server {
	char *name;
	int64_t weight;
};

struct sample {
	char *address;
	int64_t timeout;
	int64_t limit;
	int64_t count;
	bool quick;
	char *mode;
	char *password;
	struct setting_strings brokers;
	struct setting_list servers;
};

static const char *const modes[] = {"fast", "safe", NULL};

#define SETTING_STRUCT struct server
static const struct setting server_settings[] = {
	SETTING_STRING(name, REQUIRED, AT_START, "what it is called"),
	SETTING_INT(weight, "1", 0, 0, AT_START, "its share"),
	{0},
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct sample
static const struct setting settings[] = {
	SETTING_STRING(address, "127.0.0.1:80", AT_START, "Where to listen."),
	SETTING_DURATION(timeout, "30s", CLOCK_SECOND, CLOCK_HOUR, AT_START,
			 "How long to wait."),
	SETTING_SIZE(limit, "16KiB", 0, 0, AT_START, "How much to take."),
	SETTING_INT(count, "4", 1, 64, AT_START, "How many."),
	SETTING_BOOL(quick, "false", AT_START, "Whether to hurry."),
	SETTING_ENUM(mode, "safe", modes, AT_START, "Which way."),
	SETTING_SECRET(password, OPTIONAL_LIKE("file:/etc/shortloop/password"),
		       AT_START, "What opens it."),
	SETTING_STRINGS(brokers, "a:1, ::1", AT_START, "Where they are."),
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
static const char *const foreign[] = {"other", NULL};
static struct config_spec spec = {groups, 1, foreign};

static int load_settings(const char *yaml, struct sample *config,
			 struct error *err)
{
	char path[64];
	int status;

	unit_write_file(yaml, path);
	status = config_load(&spec, path, config, err);
	/* The file's name is random, so only the text after it is kept. */
	if (status < 0 && !strncmp(err->text, path, strlen(path)))
		memmove(err->text, err->text + strlen(path),
			strlen(err->text + strlen(path)) + 1);
	unlink(path);
	return status;
}

static void an_empty_file_gives_the_fallbacks(void **state)
{
	struct sample config = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(load_settings("", &config, &err), 0);
	assert_string_equal(config.address, "127.0.0.1:80");
	assert_int_equal(config.timeout, 30000);
	assert_int_equal(config.limit, 16384);
	assert_int_equal(config.brokers.count, 2);
	assert_string_equal(config.brokers.items[1], "::1");
	assert_null(config.password);
	config_release(&spec, &config);
	assert_null(config.address);
}

static void what_is_given_is_taken(void **state)
{
	struct sample config = {0};
	struct error err = {0};
	struct server *servers;

	(void)state;
	setenv("UNIT_SECRET", "open sesame", 1);
	assert_int_equal(load_settings("other: {x: 1}\n"
				       "part:\n"
				       "  timeout: 2m\n"
				       "  limit: 1GiB\n"
				       "  quick: true\n"
				       "  mode: fast\n"
				       "  password: env:UNIT_SECRET\n"
				       "  brokers: [k:9092]\n"
				       "  servers:\n"
				       "    - name: one\n"
				       "    - {name: two, weight: 7}\n",
				       &config, &err),
			 0);
	servers = config.servers.items;
	assert_int_equal(config.timeout, 120000);
	assert_int_equal(config.limit, 1 << 30);
	assert_true(config.quick);
	assert_string_equal(config.password, "open sesame");
	assert_int_equal(config.servers.count, 2);
	assert_int_equal(servers[0].weight, 1);
	assert_string_equal(servers[1].name, "two");
	config_release(&spec, &config);
}

static void a_mistake_names_line_column_key_and_what_was_expected(void **state)
{
	static const struct {
		const char *yaml, *said;
	} cases[] = {
		{"part:\n  timeout: soon\n",
		 ":2:12: part.timeout: 'soon' is not a duration: write a whole "
		 "number and ms, s, m, h or d, or 'never'"},
		{"part:\n  timeout: 2h\n",
		 ":2:12: part.timeout: must be from 1s to 1h"},
		{"part:\n  count: 65\n",
		 ":2:10: part.count: must be from 1 to 64"},
		{"part:\n  count: many\n", ":2:10: part.count: expected a "
					   "whole number, not 'many'"},
		{"part:\n  limit: 5MB\n",
		 ":2:10: part.limit: expected a size such as 64KiB or 16MiB, "
		 "not '5MB'"},
		{"part:\n  quick: maybe\n", ":2:10: part.quick: expected true "
					    "or false, not 'maybe'"},
		{"part:\n  mode: slow\n", ":2:9: part.mode: expected one of "
					  "fast, safe, not 'slow'"},
		{"part:\n  password: hunter2\n",
		 ":2:13: part.password: a secret is written file:/path, "
		 "credential:NAME or env:NAME, never as itself"},
		{"part:\n  password: credential:../shadow\n",
		 ":2:13: part.password: '../shadow' is no name of a "
		 "credential"},
		{"part:\n  password: credential:pass\n",
		 ":2:13: part.password: there is no $CREDENTIALS_DIRECTORY: "
		 "start it by systemd with LoadCredential=pass:FILE"},
		{"part:\n  brokers: a:1\n",
		 ":2:12: part.brokers: expected a list: [a, b]"},
		{"part:\n  servers:\n    - weight: 2\n",
		 ": part.servers[0].name: is required: what it is called"},
		{"part:\n  servers:\n    - name: a\n      wait: 2\n",
		 ":4:7: part.servers[0].wait: unknown key; known here: name, "
		 "weight"},
		{"part:\n  mod: fast\n",
		 ":2:3: part.mod: unknown key; known here: address, timeout, "
		 "limit, count, quick, mode, password, brokers, servers"},
		{"part:\n  count: 1\n  count: 2\n",
		 ":3:3: count: given twice, first in line 2"},
		{"prat:\n  count: 1\n", ":1:1: prat: unknown section"},
		{"part: 5\n", ":1:7: part: expected settings below it"},
		{"part:\n  address: [1]\n",
		 ":2:12: part.address: expected a single value"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample config = {0};
		struct error err = {0};

		assert_int_equal(load_settings(cases[i].yaml, &config, &err),
				 -1);
		assert_int_equal(err.code, ERROR_CONFIG);
		assert_string_equal(err.text, cases[i].said);
		config_release(&spec, &config);
	}
}

/* Another program's section; one of its settings is compared with ours. */
static void what_is_borrowed_is_read_and_the_rest_is_not_ours(void **state)
{
	static const struct setting one[] = {
		SETTING_INT(count, "4", 0, 9, AT_START, "How many."),
		{0},
	};
	static const struct setting_section theirs = {
		.name = "part",
		.help = "A part.",
		.settings = one,
	};
	const struct setting_group lent = {.section = &theirs,
					   .borrowed = true};
	const struct config_spec of_theirs = {&lent, 1, NULL};
	struct sample config = {0};
	struct error err = {0};
	char path[64];

	(void)state;
	unit_write_file("part:\n  what: [is, that]\n  count: 7\n", path);
	assert_int_equal(config_load(&of_theirs, path, &config, &err), 0);
	assert_int_equal(config.count, 7);
	unlink(path);
	unit_write_file("part: {count: 10}\n", path);
	assert_int_equal(config_load(&of_theirs, path, &config, &err), -1);
	unlink(path);
}

static void
an_optional_section_asks_for_nothing_unless_it_is_there(void **state)
{
	static const struct setting two[] = {
		SETTING_STRING(address, REQUIRED, AT_START, "Where."),
		SETTING_INT(count, "4", 0, 9, AT_START, "How many."),
		{0},
	};
	static const struct setting_section more = {
		.name = "more",
		.help = "More.",
		.settings = two,
	};
	const struct setting_group group = {.section = &more, .optional = true};
	const struct config_spec with_more = {&group, 1, NULL};
	struct sample config = {0};
	struct error err = {0};
	char path[64];

	(void)state;
	unit_write_file("", path);
	assert_int_equal(config_load(&with_more, path, &config, &err), 0);
	assert_null(config.address);
	assert_int_equal(config.count, 4);
	unlink(path);
	config_release(&with_more, &config);
	unit_write_file("more: {count: 5}\n", path);
	assert_int_equal(config_load(&with_more, path, &config, &err), -1);
	assert_non_null(strstr(err.text, "more.address: is required"));
	unlink(path);
	config_release(&with_more, &config);
}

static void broken_yaml_is_an_error_with_its_place(void **state)
{
	struct sample config = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(load_settings("part:\n  count: [1\n", &config, &err),
			 -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_memory_equal(err.text, ":3:1: ", 6);
	config_release(&spec, &config);
}

static char *capture_print(void (*print)(FILE *out, void *arg), void *arg)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	print(out, arg);
	fclose(out);
	return text;
}

static void print_effective(FILE *out, void *arg)
{
	config_print(&spec, arg, out);
}

static void print_sample(FILE *out, void *arg)
{
	config_print_sample(arg, out);
}

static void print_man(FILE *out, void *arg)
{
	config_print_man(arg, out);
}

static void print_reloads(FILE *out, void *arg)
{
	config_print_reloads(arg, out);
}

static void printed_settings_load_again(void **state)
{
	struct sample config = {0}, again = {0};
	struct error err = {0};
	char *first, *second;

	(void)state;
	assert_int_equal(
		load_settings("part:\n"
			      "  address: \"with \\\"quotes\\\" and: colon\"\n"
			      "  brokers: [\"::1\", \"a:\"]\n"
			      "  servers: [{name: a}, {name: b, weight: 3}]\n",
			      &config, &err),
		0);
	first = capture_print(print_effective, &config);
	assert_int_equal(load_settings(first, &again, &err), 0);
	second = capture_print(print_effective, &again);
	assert_string_equal(first, second);
	free(first);
	free(second);
	config_release(&spec, &config);
	config_release(&spec, &again);
}

static void text_that_looks_like_an_octal_number_is_quoted(void **state)
{
	struct sample config = {0};
	struct error err = {0};
	char *text;

	(void)state;
	assert_int_equal(load_settings("part: {address: 0660}", &config, &err),
			 0);
	text = capture_print(print_effective, &config);
	assert_non_null(strstr(text, "address: \"0660\""));
	free(text);
	config_release(&spec, &config);
}

static void a_secret_is_never_printed(void **state)
{
	struct sample config = {0};
	struct error err = {0};
	char *text;

	(void)state;
	setenv("UNIT_SECRET", "open sesame", 1);
	assert_int_equal(load_settings("part: {password: env:UNIT_SECRET}",
				       &config, &err),
			 0);
	text = capture_print(print_effective, &config);
	assert_null(strstr(text, "sesame"));
	assert_non_null(strstr(text, "password: \"***\""));
	free(text);
	config_release(&spec, &config);
}

static void a_credential_is_read_where_systemd_put_it(void **state)
{
	char directory[] = "/tmp/unit-credentials-XXXXXX", path[64];
	struct sample config = {0};
	struct error err = {0};
	FILE *out;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/pass", directory);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs("open sesame\n", out);
	fclose(out);
	setenv("CREDENTIALS_DIRECTORY", directory, 1);
	assert_int_equal(load_settings("part: {password: credential:pass}",
				       &config, &err),
			 0);
	assert_string_equal(config.password, "open sesame");
	config_release(&spec, &config);
	assert_int_equal(load_settings("part: {password: credential:none}",
				       &config, &err),
			 -1);
	assert_non_null(strstr(err.text, "/none: No such file"));
	config_release(&spec, &config);
	unsetenv("CREDENTIALS_DIRECTORY");
	unlink(path);
	rmdir(directory);
}

static void the_sample_loads_as_the_fallbacks(void **state)
{
	struct sample sample = {0}, plain = {0};
	struct error err = {0};
	char *text = capture_print(print_sample, &spec), *a, *b;

	(void)state;
	assert_int_equal(load_settings(text, &sample, &err), 0);
	assert_int_equal(load_settings("", &plain, &err), 0);
	a = capture_print(print_effective, &sample);
	b = capture_print(print_effective, &plain);
	assert_string_equal(a, b);
	free(text);
	free(a);
	free(b);
	config_release(&spec, &sample);
	config_release(&spec, &plain);
}

struct files {
	char *rules;
	struct setting_strings maps;
	char *journal;
	char *name;
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct files
static const struct setting file_settings[] = {
	SETTING_PATH(rules, "/rules", RELOADS, "The rules."),
	SETTING_STRINGS(maps, OPTIONAL, RELOADS, "The maps"),
	SETTING_PATH(journal, OPTIONAL, REOPENS, "The journal."),
	SETTING_STRING(name, "x", AT_START, "The name."),
	{0},
};
static const struct setting_section file_section = {
	.name = "files",
	.help = "Files.",
	.settings = file_settings,
};
static const struct setting_group file_groups[] = {{.section = &file_section}};
static struct config_spec file_spec = {file_groups, 1, NULL};

static void what_sighup_does_stands_behind_the_help(void **state)
{
	static const char *const said[] = {
		"The rules.  The file is read again on SIGHUP.\n",
		"The maps.  The files are read again on SIGHUP.\n",
		"The journal.  The file is opened again on SIGHUP.\n",
		"The name.\n",
	};
	char *sample = capture_print(print_sample, &file_spec);
	char *man = capture_print(print_man, &file_spec);

	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		assert_non_null(strstr(man, said[i]));
		assert_non_null(strstr(sample, said[i]));
	}
	assert_non_null(
		strstr(man, "restart.\nSIGHUP reads again: files.rules, "
			    "files.maps; files.journal is opened anew.\n.Ss"));
	free(sample);
	free(man);
}

static void only_what_is_ours_is_read_again(void **state)
{
	const struct setting_group groups_of_others[] = {
		{.section = &section},
		{.section = &file_section, .borrowed = true},
	};
	struct config_spec others = {groups_of_others, 2, NULL};
	char *ours = capture_print(print_reloads, &file_spec);
	char *theirs = capture_print(print_reloads, &others);

	(void)state;
	assert_string_equal(
		ours,
		"reads again: files.rules, files.maps; files.journal is opened "
		"anew");
	assert_string_equal(theirs, "is ignored");
	free(ours);
	free(theirs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_file_gives_the_fallbacks),
		cmocka_unit_test(what_is_given_is_taken),
		cmocka_unit_test(
			a_mistake_names_line_column_key_and_what_was_expected),
		cmocka_unit_test(
			what_is_borrowed_is_read_and_the_rest_is_not_ours),
		cmocka_unit_test(
			an_optional_section_asks_for_nothing_unless_it_is_there),
		cmocka_unit_test(broken_yaml_is_an_error_with_its_place),
		cmocka_unit_test(printed_settings_load_again),
		cmocka_unit_test(
			text_that_looks_like_an_octal_number_is_quoted),
		cmocka_unit_test(a_secret_is_never_printed),
		cmocka_unit_test(a_credential_is_read_where_systemd_put_it),
		cmocka_unit_test(the_sample_loads_as_the_fallbacks),
		cmocka_unit_test(what_sighup_does_stands_behind_the_help),
		cmocka_unit_test(only_what_is_ours_is_read_again),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
