/* Settings that are right each, and wrong together. */
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

static int validate(const char *text, struct error *err)
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

	if (validate(text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void assert_refused(const char *text, const char *says)
{
	struct error err = {0};

	assert_int_equal(validate(text, &err), -1);
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

/* The spool_dir of a text, under that STATE_DIRECTORY, is this. */
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
	};

	setenv("SHORTLOOP_TEST_KEY", "00112233445566778899aabbccddeeff", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
