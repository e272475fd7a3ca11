#include "tests/unit/unit.h"

#include <string.h>

#include "common/clickhouse/server_url.h"
#include "common/config/config.h"
#include "common/drop_const.h"

#define HIDDEN "hunter2"

static const struct setting_group groups[] = {{.section = &clickhouse_section}};
static const struct config_spec spec = {groups, 1, NULL};

static void user_and_password_are_taken_out(void **state)
{
	static const struct {
		const char *url, *base, *username, *password;
	} cases[] = {
		{"http://127.0.0.1:8123", "http://127.0.0.1:8123", NULL, NULL},
		{"https://[::1]:8443/", "https://[::1]:8443", NULL, NULL},
		{"https://h/ch//", "https://h/ch", NULL, NULL},
		{"http://me:pass@h:8123/", "http://h:8123", "me", "pass"},
		{"http://me@h:8123/", "http://h:8123", "me", NULL},
		{"http://me:p%40s%2Fs@h/x", "http://h/x", "me", "p@s/s"},
		{"http://m%3Ae:p%3As@h/", "http://h", "m:e", "p:s"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct clickhouse_config config = {
			.url = drop_const(cases[i].url)};
		struct server_url url = {0};
		struct error err = {0};

		assert_int_equal(server_url_read(&config, &url, &err), 0);
		assert_string_equal(url.base, cases[i].base);
		assert_string_equal(url.username ? url.username : "-",
				    cases[i].username ? cases[i].username
						      : "-");
		assert_string_equal(url.password ? url.password : "-",
				    cases[i].password ? cases[i].password
						      : "-");
		server_url_release(&url);
	}
}

static void a_url_of_another_kind_is_refused_unseen(void **state)
{
	static const struct {
		const char *url, *says;
	} cases[] = {
		{"127.0.0.1:8123", "clickhouse.url: expected http"},
		{"ftp://me:" HIDDEN "@h/", "expected http:// or https://"},
		{"tcp://me:" HIDDEN "@h:9000", "expected http:// or https://"},
		{"http://h/?user=me&password=" HIDDEN, "clickhouse.username"},
		{"http://h/#" HIDDEN, "clickhouse.username"},
		{"http://me:" HIDDEN "/@h:8123/", "clickhouse.url: expected"},
		{"http://me:%0a" HIDDEN "@h/", "control character"},
		{"http://me:" HIDDEN "@s@h/", "is written %40"},
		{"http://me:" HIDDEN "@", "clickhouse.url: expected"},
		{"", "clickhouse.url: expected"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct clickhouse_config config = {0};
		struct error err = {0};

		setenv("UNIT_URL", cases[i].url, 1);
		assert_int_equal(config_load_text(&spec, "it",
						  "clickhouse: {url: "
						  "env:UNIT_URL}",
						  &config, &err),
				 -1);
		assert_int_equal(err.code, ERROR_CONFIG);
		assert_null(strstr(err.text, HIDDEN));
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' is not in '%s'", cases[i].says,
				 err.text);
		config_release(&spec, &config);
	}
}

static void two_logins_are_one_too_many(void **state)
{
	struct clickhouse_config config = {.url = drop_const("http://me:p@h/"),
					   .username = drop_const("you")};
	struct server_url url;
	struct error err = {0};

	(void)state;
	assert_int_equal(server_url_read(&config, &url, &err), -1);
	assert_non_null(strstr(err.text, "clickhouse.username"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_and_password_are_taken_out),
		cmocka_unit_test(a_url_of_another_kind_is_refused_unseen),
		cmocka_unit_test(two_logins_are_one_too_many),
	};

	return cmocka_run_group_tests_name("server_url", tests, NULL, NULL);
}
