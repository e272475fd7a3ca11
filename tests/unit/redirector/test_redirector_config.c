/* Settings that are valid alone, and invalid together. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "redirector/redirector_config.h"

#define LINKS                                                                  \
	"links: {spaces: [{name: s7, number: 1, length: 7, keys: [{version: "  \
	"0, key: \"env:SHORTLOOP_TEST_KEY\"}]}]}\n"
#define REPLICAS "redis: {replicas: [\"10.0.0.2:6379\"]}\n"
#define SENTINELS                                                              \
	"redis: {sentinels: [\"10.0.0.1:1\"], sentinel_replicas: true}\n"

static int validate_text(const char *text, struct error *err)
{
	const struct config_spec spec = {redirector_groups,
					 redirector_group_count, NULL};
	struct redirector_config *config = calloc(1, sizeof(*config));
	char all[1024];
	int status;

	assert_non_null(config);
	snprintf(all, sizeof(all), LINKS "%s", text);
	if (config_load_text(&spec, "text", all, config, err) < 0)
		fail_msg("%s: %s", text, err->text);
	status = redirector_config_validate(config, err);
	config_release(&spec, config);
	free(config);
	return status;
}

static void assert_taken(const char *text)
{
	struct error err = {0};

	if (validate_text(text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void assert_refused(const char *text, const char *says)
{
	struct error err = {0};

	assert_int_equal(validate_text(text, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void a_replica_leaves_time_to_ask_the_master(void **state)
{
	(void)state;
	assert_refused(REPLICAS "redirector: {replica_timeout: 2s}\n",
		       "redirector.replica_timeout (2s) must be shorter than "
		       "redirector.lookup_timeout (1s)");
	assert_refused(REPLICAS "redirector: {lookup_timeout: 100ms}\n",
		       "redirector.replica_timeout (100ms) must be shorter "
		       "than redirector.lookup_timeout (100ms)");
	assert_refused(SENTINELS "redirector: {lookup_timeout: 50ms}\n",
		       "redirector.replica_timeout (100ms) must be shorter");
	assert_taken(REPLICAS);
	assert_taken(SENTINELS);
	assert_taken(REPLICAS "redirector: {lookup_timeout: 101ms}\n");
}

static void without_replicas_their_timeout_is_as_good_as_any(void **state)
{
	(void)state;
	assert_taken("redirector: {replica_timeout: 1m}\n");
	assert_taken("redirector: {lookup_timeout: 10ms}\n");
}

static void replicas_are_named_once(void **state)
{
	(void)state;
	assert_refused("redis: {sentinel_replicas: true}\n",
		       "sentinel_replicas");
}

static void visitors_and_a_successor_have_sockets_of_their_own(void **state)
{
	(void)state;
	assert_taken("redirector: {listen_unix: /run/a, handover_socket: "
		     "/run/b}\n");
	assert_taken("redirector: {listen_unix: /run/a}\n");
	assert_taken("redirector: {handover_socket: /run/b}\n");
	assert_refused("redirector: {listen_unix: /run/a, handover_socket: "
		       "/run/a}\n",
		       "redirector.handover_socket: '/run/a' is listen_unix, "
		       "too");
	assert_refused("redirector: {listen_unix: a}\n",
		       "redirector.listen_unix: 'a' ");
	assert_refused("redirector: {handover_socket: b}\n",
		       "redirector.handover_socket: 'b' ");
}

/* A mode is written in octal, with its leading zero. */
static void mode_is(char *text, int mode)
{
	const struct redirector_settings s = {.listen_unix_mode = text};

	assert_int_equal(redirector_unix_mode(&s), mode);
}

static void a_sockets_mode_is_one_of_a_file(void **state)
{
	char none[] = "0", some[] = "0660", all[] = "0777", more[] = "01000",
	     decimal[] = "660", word[] = "0rw", eight[] = "0680", blank[] = "";

	(void)state;
	mode_is(none, 0);
	mode_is(some, 0660);
	mode_is(all, 0777);
	mode_is(more, -1);
	mode_is(decimal, -1);
	mode_is(word, -1);
	mode_is(eight, -1);
	mode_is(blank, -1);
	assert_taken("redirector: {listen_unix_mode: \"0\"}\n");
	assert_refused("redirector: {listen_unix_mode: \"660\"}\n",
		       "redirector.listen_unix_mode: '660' is not a mode such "
		       "as 0660");
}

static void a_rate_or_network_that_is_none_is_named(void **state)
{
	(void)state;
	assert_taken("redirector: {client_rate: 5/s, unknown_rate: none}\n");
	assert_refused("redirector: {client_rate: often}\n",
		       "redirector.client_rate");
	assert_refused("redirector: {unknown_rate: often}\n",
		       "redirector.unknown_rate");
	assert_refused("redirector: {limit_exempt: [10.0.0.0/33]}\n",
		       "redirector.limit_exempt");
	assert_refused("redirector: {proxy_protocol: [10.0.0.0/33]}\n",
		       "redirector.proxy_protocol");
	assert_refused("redirector: {trusted_proxies: [10.0.0.0/33]}\n",
		       "redirector.trusted_proxies");
	assert_taken("redirector: {trusted_proxies: [unix], proxy_protocol: "
		     "[unix]}\n");
}

static void a_fallback_is_a_url_of_the_web(void **state)
{
	(void)state;
	assert_taken("redirector: {fallback_url: \"https://a.example/\"}\n");
	assert_refused("redirector: {fallback_url: \"ftp://a.example/\"}\n",
		       "redirector.fallback_url: 'ftp://a.example/' is not an "
		       "http or https URL");
}

static void what_is_recorded_by_name_has_names(void **state)
{
	(void)state;
	assert_taken("redirector: {record_cookies: [a]}\n");
	assert_refused("redirector: {record_cookies: [a, a]}\n",
		       "record_cookies");
}

/* The program checks every section that it reads. */
static void what_other_sections_say_is_checked_too(void **state)
{
	(void)state;
	assert_refused("domains: {default: none}\n", "domains.default");
	assert_refused("domains: {list: [{name: a, hosts: [a.a], spaces: "
		       "[s9]}]}\n",
		       "'s9' is not one of links.spaces");
}

static void a_space_that_is_wrong_ends_a_start(void **state)
{
	struct redirector_config *config = calloc(1, sizeof(*config));
	struct error err = {0};

	(void)state;
	assert_non_null(config);
	assert_int_equal(redirector_config_validate(config, &err), -1);
	assert_non_null(strstr(err.text, "links.ttl_classes"));
	free(config);
}

/* This text, with that STATE_DIRECTORY, results in this spool_dir. */
static void assert_spool(const char *text, const char *dirs, const char *is)
{
	const struct config_spec spec = {redirector_groups,
					 redirector_group_count, NULL};
	struct redirector_config config = {0};
	struct error err = {0};
	char all[1024];

	snprintf(all, sizeof(all), LINKS "%s", text);
	if (dirs)
		setenv("STATE_DIRECTORY", dirs, 1);
	else
		unsetenv("STATE_DIRECTORY");
	assert_int_equal(config_load_text(&spec, "text", all, &config, &err),
			 0);
	assert_int_equal(redirector_config_complete(&config, &err), 0);
	if (is)
		assert_string_equal(config.redirector.spool_dir, is);
	else
		assert_null(config.redirector.spool_dir);
	config_release(&spec, &config);
	unsetenv("STATE_DIRECTORY");
}

static void the_spool_is_in_the_state_directory_of_the_unit(void **state)
{
	(void)state;
	assert_spool("", "/var/lib/shortloop", "/var/lib/shortloop/spool");
	assert_spool("", "/var/lib/shortloop:/var/lib/shortloop/edge",
		     "/var/lib/shortloop/edge/spool");
	assert_spool("", NULL, NULL);
	assert_spool("", "", NULL);
}

static void a_spool_that_is_set_is_where_it_is_set(void **state)
{
	(void)state;
	assert_spool("redirector: {spool_dir: /srv/spool}\n",
		     "/var/lib/shortloop", "/srv/spool");
	assert_spool("redirector: {spool_dir: none}\n", "/var/lib/shortloop",
		     NULL);
	assert_spool("redirector: {spool_dir: none}\n", NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replica_leaves_time_to_ask_the_master),
		cmocka_unit_test(
			without_replicas_their_timeout_is_as_good_as_any),
		cmocka_unit_test(
			the_spool_is_in_the_state_directory_of_the_unit),
		cmocka_unit_test(a_spool_that_is_set_is_where_it_is_set),
		cmocka_unit_test(replicas_are_named_once),
		cmocka_unit_test(
			visitors_and_a_successor_have_sockets_of_their_own),
		cmocka_unit_test(a_sockets_mode_is_one_of_a_file),
		cmocka_unit_test(a_rate_or_network_that_is_none_is_named),
		cmocka_unit_test(a_fallback_is_a_url_of_the_web),
		cmocka_unit_test(what_is_recorded_by_name_has_names),
		cmocka_unit_test(what_other_sections_say_is_checked_too),
		cmocka_unit_test(a_space_that_is_wrong_ends_a_start),
	};

	setenv("SHORTLOOP_TEST_KEY", "00112233445566778899aabbccddeeff", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
