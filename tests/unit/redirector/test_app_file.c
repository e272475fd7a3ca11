#include "tests/unit/unit.h"

#include <string.h>
#include <sys/stat.h>

#include "redirector/pages/app_file.h"

#define APPLE "{\"applinks\":{\"details\":[]}}"

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static struct app_file *try_load_file(const char *text, enum app_file_kind kind,
				      struct error *err)
{
	char path[64];
	struct app_file *f =
		app_file_load(unit_write_file(text, path), kind, err);

	unlink(path);
	return f;
}

static struct app_file *load_file(const char *text, enum app_file_kind kind)
{
	struct error err = {0};
	struct app_file *f = try_load_file(text, kind, &err);

	if (!f)
		fail_msg("%s", err.text);
	return f;
}

/* `why` follows the file's name in the error. */
static void is_refused(const char *text, enum app_file_kind kind,
		       const char *why)
{
	struct error err = {0};
	const char *at;

	assert_null(try_load_file(text, kind, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_int_equal(strncmp(err.text, "/tmp/shortloop-unit-", 20), 0);
	at = strstr(err.text, ": ");
	assert_non_null(at);
	assert_string_equal(at + 2, why);
}

static void paths_ask_for_a_kind(void **state)
{
	(void)state;
	assert_int_equal(app_file_kind_of(slice_of(
				 "/.well-known/apple-app-site-association")),
			 APP_FILE_APPLE);
	assert_int_equal(
		app_file_kind_of(slice_of("/apple-app-site-association")),
		APP_FILE_APPLE);
	assert_int_equal(
		app_file_kind_of(slice_of("/.well-known/assetlinks.json")),
		APP_FILE_ANDROID);
}

static void other_paths_do_not(void **state)
{
	static const char *const others[] = {
		"/",
		"/aB3xY7k",
		"/assetlinks.json",
		"/.well-known/assetlinks.jsom",
		"/.well-known/assetlinks.json/",
		"/Apple-app-site-association",
		"/apple-app-site-association1",
		"/.well-known/security.txt12345",
		"/.well-known/apple-app-site-associatio",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(app_file_kind_of(slice_of(others[i])),
				 APP_FILE_KINDS);
	assert_int_equal(app_file_kind_of((struct http_slice){0}),
			 APP_FILE_KINDS);
}

static void a_robots_txt_is_text(void **state)
{
	struct app_file *f =
		load_file("User-agent: *\nDisallow: /\n", APP_FILE_ROBOTS);
	struct http_slice lines = app_file_lines(f, true);

	(void)state;
	assert_memory_equal(lines.data,
			    "Content-Type: text/plain; charset=utf-8\r\n", 41);
	app_file_release(f);
	app_file_release(load_file("", APP_FILE_ROBOTS));
	is_refused("a\nb\xff", APP_FILE_ROBOTS, "line 2: is not text in UTF-8");
}

static void the_body_is_the_file_byte_by_byte(void **state)
{
	static const char text[] = " {\n\t\"a\": \"\xc3\xbc\" }\n\n";
	struct app_file *f = load_file(text, APP_FILE_APPLE);
	struct http_slice body = app_file_body(f);

	(void)state;
	assert_int_equal(body.len, strlen(text));
	assert_memory_equal(body.data, text, body.len);
	app_file_release(f);
}

static void its_tag_follows_its_content(void **state)
{
	struct app_file *a = load_file(APPLE, APP_FILE_APPLE),
			*same = load_file(APPLE, APP_FILE_APPLE),
			*other = load_file("{}", APP_FILE_APPLE);
	struct http_slice lines = app_file_lines(a, false);
	struct http_slice tag = {lines.data + 6, 18};

	(void)state;
	assert_memory_equal(lines.data, "ETag: \"", 7);
	assert_true(app_file_matches(a, tag));
	assert_true(app_file_matches(same, tag));
	assert_false(app_file_matches(other, tag));
	assert_false(app_file_matches(a, (struct http_slice){0}));
	app_file_release(a);
	app_file_release(same);
	app_file_release(other);
}

static void the_lines_of_a_304_say_nothing_of_a_body(void **state)
{
	struct app_file *f = load_file("[]", APP_FILE_ANDROID);
	struct http_slice all = app_file_lines(f, true),
			  some = app_file_lines(f, false);

	(void)state;
	assert_memory_equal(all.data, "Content-Type: application/json\r\n", 32);
	assert_null(memmem(some.data, some.len, "Content-Type", 12));
	assert_memory_equal(some.data + some.len - 13, "max-age=300\r\n", 13);
	app_file_release(f);
}

static void a_mistake_has_its_file_line_and_column(void **state)
{
	(void)state;
	is_refused("{\n  \"a\": 1,\n  b }\n", APP_FILE_APPLE,
		   "not JSON: line 3, column 3: string or '}' expected near "
		   "'b'");
	is_refused("", APP_FILE_ANDROID,
		   "not JSON: line 1, column 0: '[' or '{' expected near end "
		   "of file");
	is_refused("[1] [2]", APP_FILE_ANDROID,
		   "not JSON: line 1, column 5: end of file expected near '['");
	is_refused("{\"a\":1,\"a\":2}", APP_FILE_APPLE,
		   "not JSON: line 1, column 10: duplicate object key near "
		   "'\"a\"'");
}

static void the_other_kind_of_json_is_refused(void **state)
{
	(void)state;
	is_refused("[]", APP_FILE_APPLE,
		   "line 1, column 1: expected an object of JSON");
	is_refused("{}", APP_FILE_ANDROID,
		   "line 1, column 1: expected a list of JSON");
}

/* Returns a list of `len` bytes. */
static char *list_of(size_t len)
{
	char *text = malloc(len + 1);

	assert_non_null(text);
	memset(text, ' ', len);
	text[0] = '[';
	text[len - 1] = ']';
	text[len] = '\0';
	return text;
}

static void it_may_be_as_long_as_apple_has_it(void **state)
{
	char *most = list_of(128 << 10), *more = list_of((128 << 10) + 1);

	(void)state;
	app_file_release(load_file(most, APP_FILE_ANDROID));
	is_refused(more, APP_FILE_ANDROID,
		   "is longer than 131072 bytes, which its readers refuse");
	free(most);
	free(more);
}

static void what_is_no_file_is_refused_at_once(void **state)
{
	char path[64];
	struct error err = {0};

	(void)state;
	unlink(unit_write_file("", path));
	assert_null(app_file_load(path, APP_FILE_APPLE, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, path));
	/* No process writes to the FIFO. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(app_file_load(path, APP_FILE_APPLE, &err));
	unlink(path);
	assert_non_null(strstr(err.text, "not a plain file"));
}

static void it_stays_until_the_last_user_lets_go(void **state)
{
	struct app_file *f = load_file(APPLE, APP_FILE_APPLE);

	(void)state;
	assert_ptr_equal(app_file_share(f), f);
	app_file_release(f);
	assert_int_equal(app_file_body(f).len, strlen(APPLE));
	app_file_release(f);
	app_file_release(NULL);
	assert_null(app_file_share(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_ask_for_a_kind),
		cmocka_unit_test(other_paths_do_not),
		cmocka_unit_test(a_robots_txt_is_text),
		cmocka_unit_test(the_body_is_the_file_byte_by_byte),
		cmocka_unit_test(its_tag_follows_its_content),
		cmocka_unit_test(the_lines_of_a_304_say_nothing_of_a_body),
		cmocka_unit_test(a_mistake_has_its_file_line_and_column),
		cmocka_unit_test(the_other_kind_of_json_is_refused),
		cmocka_unit_test(it_may_be_as_long_as_apple_has_it),
		cmocka_unit_test(what_is_no_file_is_refused_at_once),
		cmocka_unit_test(it_stays_until_the_last_user_lets_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
