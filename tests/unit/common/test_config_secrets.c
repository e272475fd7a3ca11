#include "tests/unit/unit.h"

#include <string.h>

#include "common/config/config.h"
#include "common/config/config_print.h"
#include "common/config/secret.h"

/* No message and no print may contain these. */
#define HIDDEN "hunter2"

struct sample {
	char *url;
	char *page;
	char *password;
	struct setting_strings options;
	struct setting_strings pages;
};

static bool is_secret(const char *name)
{
	return strstr(name, "password");
}

#define SETTING_STRUCT struct sample
static const struct setting settings[] = {
	SETTING_URL(url, OPTIONAL, AT_START, "Where it is."),
	SETTING_STRING(page, OPTIONAL, AT_START, "What is shown."),
	SETTING_SECRET(password, OPTIONAL, AT_START, "What opens it."),
	SETTING_OPTIONS(options, OPTIONAL, is_secret, AT_START, "Others."),
	SETTING_STRINGS(pages, OPTIONAL, AT_START, "What else is shown."),
	{0},
};
static const struct setting_section section = {
	.name = "part",
	.help = "A part.",
	.settings = settings,
};
static const struct setting_group groups[] = {{.section = &section}};
static const struct config_spec spec = {groups, 1, NULL};

static int load_settings(const char *yaml, struct sample *config,
			 struct error *err)
{
	return config_load_text(&spec, "it", yaml, config, err);
}

static void print_settings(const char *yaml, char out[1024])
{
	struct sample config = {0};
	struct error err = {0};
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(load_settings(yaml, &config, &err), 0);
	config_print(&spec, &config, file);
	config_release(&spec, &config);
	rewind(file);
	out[fread(out, 1, 1023, file)] = '\0';
	fclose(file);
}

static void a_secret_among_options_is_read_from_where_it_is(void **state)
{
	struct sample config = {0};
	struct error err = {0};
	char path[64], yaml[256], directory[64] = "/tmp/shortloop-unit-XXXXXX";
	char credential[80];
	FILE *file;

	(void)state;
	unit_write_file("of a file=1\n", path);
	assert_non_null(mkdtemp(directory));
	snprintf(credential, sizeof(credential), "%s/kafka", directory);
	file = fopen(credential, "w");
	assert_non_null(file);
	fputs("of systemd\r\n", file);
	fclose(file);
	setenv("CREDENTIALS_DIRECTORY", directory, 1);
	setenv("UNIT_SECRET", "of the environment", 1);
	snprintf(yaml, sizeof(yaml),
		 "part: {options: [a.password=file:%s, b=file:/plain, "
		 "c.password=env:UNIT_SECRET, d.password=credential:kafka]}",
		 path);
	assert_int_equal(load_settings(yaml, &config, &err), 0);
	assert_string_equal(config.options.items[0], "a.password=of a file=1");
	assert_string_equal(config.options.items[1], "b=file:/plain");
	assert_string_equal(config.options.items[2],
			    "c.password=of the environment");
	assert_string_equal(config.options.items[3], "d.password=of systemd");
	config_release(&spec, &config);
	unlink(path);
	unit_remove_dir(directory);
}

static void a_print_has_no_secret(void **state)
{
	static const char *const wanted[] = {
		"url: \"https://***@host:8443/x\"",
		"page: \"https://***@example.org/a@b and http://***@c/\"",
		"password: \"***\"",
		"\"a.password=***\", \"b=1\"",
		"\"https://***@d/\", \"https://e/x@y\"",
	};
	char out[1024];

	(void)state;
	setenv("UNIT_SECRET", "https://me:" HIDDEN "/p@ss@host:8443/x", 1);
	print_settings("part:\n"
		       "  url: env:UNIT_SECRET\n"
		       "  page: https://u:" HIDDEN
		       "@example.org/a@b and http://" HIDDEN "@c/\n"
		       "  password: env:UNIT_SECRET\n"
		       "  options: [a.password=env:UNIT_SECRET, b=1]\n"
		       "  pages: [https://u:" HIDDEN "@d/, https://e/x@y]\n",
		       out);
	assert_null(strstr(out, HIDDEN));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		assert_non_null(strstr(out, wanted[i]));
}

static void what_is_not_where_it_belongs_is_refused_unseen(void **state)
{
	static const struct {
		const char *yaml, *says;
	} cases[] = {
		{"part: {options: [a.password=" HIDDEN "]}",
		 "it:1:18: part.options: a.password: a secret is written "
		 "file:/path, credential:NAME or env:NAME, never as itself"},
		{"part: {options: [a.password " HIDDEN "]}",
		 "it:1:18: part.options: 'a.password': expected name=value"},
		{"part: {options: ['a.password: " HIDDEN "']}",
		 "'a.password': expected name=value"},
		{"part: {options: a.password=" HIDDEN "}", "expected a list"},
		{"part: {options: [{a.password: " HIDDEN "}]}",
		 "expected a text"},
		{"part: {options: ['u=https://me:" HIDDEN "@host/']}",
		 "u: expected a URL without a user and a password"},
		{"part: {url: 'https://me:" HIDDEN "@host/'}",
		 "part.url: a URL with a user or a password in it is written "
		 "file:/path, credential:NAME or env:NAME, never as itself"},
		{"part: {url: 'https://me:" HIDDEN "/@host/'}",
		 "part.url: a URL with"},
		{"part: {url: 'me:" HIDDEN "@host'}", "part.url: a URL with"},
		{"part: {password: " HIDDEN "}", "part.password: a secret is"},
		{"part: {password:" HIDDEN "}", "part.password: unknown key"},
		{"part:\n  password:" HIDDEN "\n", "part: expected settings"},
		{"part:\n  url: x\n  password:" HIDDEN "\n", "it:4:1: "},
		{"part: {password: [" HIDDEN "]}", "expected a single value"},
		{"part: {options: [a.password=env:UNIT_NOT_SET]}",
		 "a.password: the environment has no variable UNIT_NOT_SET"},
		{"part: {options: [a.password=file:/nowhere]}",
		 "a.password: cannot read the secret in /nowhere: No such"},
		{"part: {options: [a.password=file:/dev/null]}",
		 "/dev/null: it is a device, not a plain file"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sample config = {0};
		struct error err = {0};

		assert_int_equal(load_settings(cases[i].yaml, &config, &err),
				 -1);
		assert_int_equal(err.code, ERROR_CONFIG);
		assert_null(strstr(err.text, HIDDEN));
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' is not in '%s'", cases[i].says,
				 err.text);
		config_release(&spec, &config);
	}
}

static void a_long_secret_is_not_cut(void **state)
{
	struct error err = {0};
	char path[64], reference[80], *secret = NULL, *text;

	(void)state;
	text = calloc(1, 70001);
	assert_non_null(text);
	memset(text, 'x', 65536);
	unit_write_file(text, path);
	snprintf(reference, sizeof(reference), "file:%s", path);
	assert_int_equal(secret_read(reference, &secret, &err), 0);
	assert_int_equal(strlen(secret), 65536);
	secret_free(secret);
	unlink(path);
	memset(text, 'x', 70000);
	unit_write_file(text, path);
	snprintf(reference, sizeof(reference), "file:%s", path);
	assert_int_equal(secret_read(reference, &secret, &err), -1);
	assert_non_null(strstr(err.text, "is longer than 65536 bytes"));
	unlink(path);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_secret_among_options_is_read_from_where_it_is),
		cmocka_unit_test(a_print_has_no_secret),
		cmocka_unit_test(
			what_is_not_where_it_belongs_is_refused_unseen),
		cmocka_unit_test(a_long_secret_is_not_cut),
	};

	return cmocka_run_group_tests_name("config_secrets", tests, NULL, NULL);
}
