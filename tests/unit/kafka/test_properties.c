#include "tests/unit/unit.h"

#include <string.h>

#include "common/config/config.h"
#include "common/config/config_print.h"
#include "common/kafka/kafka.h"

#define HIDDEN "hunter2"

static const struct setting_group groups[] = {{.section = &kafka_section}};
static const struct config_spec spec = {groups, 1, NULL};

/* Properties whose names look like a secret's, but which are not secret. */
static const char *const public_properties[] = {
	/* Paths of files, and names. */
	"ssl.key.location",
	"ssl.certificate.location",
	"ssl.keystore.location",
	"sasl.kerberos.keytab",
	"sasl.oauthbearer.client.id",
	"sasl.oauthbearer.client.credentials.client.id",
	"sasl.oauthbearer.scope",
	"sasl.oauthbearer.grant.type",
	"sasl.oauthbearer.metadata.authentication.type",
	"sasl.oauthbearer.sub.claim.name",
	"sasl.oauthbearer.token.endpoint.url",
	"sasl.oauthbearer.assertion.private.key.file",
	"sasl.oauthbearer.assertion.file",
	"sasl.oauthbearer.assertion.jwt.template.file",
	"sasl.oauthbearer.assertion.algorithm",
	"sasl.oauthbearer.assertion.claim.aud",
	"sasl.oauthbearer.assertion.claim.iss",
	"sasl.oauthbearer.assertion.claim.jti.include",
	"sasl.oauthbearer.assertion.claim.sub",
	/* These are public. */
	"ssl.certificate.pem",
	"ssl.ca.pem",
	"https.ca.pem",
	/* These are no texts: an enum, numbers, a function, a pointer. */
	"sasl.oauthbearer.method",
	"sasl.oauthbearer.assertion.claim.exp.seconds",
	"sasl.oauthbearer.assertion.claim.nbf.seconds",
	"enable.sasl.oauthbearer.unsecure.jwt",
	"oauthbearer_token_refresh_cb",
	"ssl_key",
	"ssl_certificate",
};

static bool is_public(const char *name)
{
	for (size_t i = 0;
	     i < sizeof(public_properties) / sizeof(*public_properties); i++)
		if (!strcmp(public_properties[i], name))
			return true;
	return false;
}

static bool sounds_secret(const char *name)
{
	static const char *const words[] = {
		"pass",	  "secret",    "key",	   "token", "pem",
		"jwt",	  "oauth",     "cred",	   "jaas",  "private",
		"config", "extension", "user.info"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* The properties of the installed library; a later one may have others. */
static void each_property_that_sounds_secret_is_known(void **state)
{
	FILE *list = tmpfile();
	char line[4096], name[128];
	size_t seen = 0, secrets = 0;

	(void)state;
	assert_non_null(list);
	rd_kafka_conf_properties_show(list);
	rewind(list);
	while (fgets(line, sizeof(line), list)) {
		if (sscanf(line, "%127[a-z0-9._] |", name) != 1)
			continue;
		seen++;
		if (!sounds_secret(name))
			continue;
		if (kafka_property_is_secret(name) == is_public(name))
			fail_msg("is %s a secret? Say so in "
				 "kafka_property_is_secret or here",
				 name);
		secrets += kafka_property_is_secret(name);
	}
	fclose(list);
	assert_true(seen > 100);
	assert_true(secrets >= 7);
}

static void secrets_are_known_by_their_words(void **state)
{
	static const char *const names[] = {
		"sasl.password",
		"ssl.key.password",
		"ssl.key.pem",
		"ssl.keystore.password",
		"ssl.truststore.password",
		"sasl.jaas.config",
		"sasl.oauthbearer.client.secret",
		"sasl.oauthbearer.config",
		"sasl.oauthbearer.extensions",
		"sasl.oauthbearer.assertion.private.key.passphrase",
		"sasl.oauthbearer.assertion.private.key.pem",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_true(kafka_property_is_secret(names[i]));
	assert_false(kafka_property_is_secret("client.id"));
	assert_false(kafka_property_is_secret("sasl.username"));
}

static void expect_refused(const char *yaml, const char *says)
{
	struct kafka_config config = {.options = {0}};
	struct error err = {0};

	assert_int_equal(config_load_text(&spec, "it", yaml, &config, &err),
			 -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_null(strstr(err.text, HIDDEN));
	if (!strstr(err.text, says))
		fail_msg("'%s' is not in '%s'", says, err.text);
	config_release(&spec, &config);
}

static void what_librdkafka_does_not_take_is_found_by_a_check(void **state)
{
	(void)state;
	setenv("UNIT_SECRET", HIDDEN, 1);
	expect_refused("kafka: {options: [client.idd=x]}", "client.idd");
	expect_refused("kafka: {options: [sasl.passwrod=" HIDDEN "]}",
		       "sasl.passwrod");
	expect_refused("kafka: {options: [sasl.pasword=" HIDDEN "]}", "it: ");
	expect_refused("kafka: {options: [sasl.password=" HIDDEN "]}",
		       "sasl.password: a secret is written file:/path");
	expect_refused("kafka: {options: [sasl.jaas.config=env:UNIT_SECRET]}",
		       "JAAS");
	/* The value occurs in the library's own messages. */
	setenv("UNIT_SECRET", "JAAS", 1);
	expect_refused("kafka: {options: [sasl.jaas.config=env:UNIT_SECRET]}",
		       "sasl.jaas.config: librdkafka does not take it");
	expect_refused("kafka: {brokers: ['me:" HIDDEN "@host:9092']}",
		       "kafka.sasl_username");
	expect_refused("kafka: {ssl_ca_file: /dev/zero}",
		       "/dev/zero: neither a file nor a folder");
}

static void the_library_gets_the_secret_itself(void **state)
{
	struct kafka_config config = {.options = {0}};
	struct error err = {0};
	char value[64];
	size_t size = sizeof(value);
	rd_kafka_conf_t *conf;

	(void)state;
	setenv("UNIT_SECRET", HIDDEN, 1);
	assert_int_equal(
		config_load_text(&spec, "it",
				 "kafka: {options: "
				 "[ssl.keystore.password=env:UNIT_SECRET]}",
				 &config, &err),
		0);
	conf = kafka_conf_new(&config, "unit", &err);
	assert_non_null(conf);
	assert_int_equal(
		rd_kafka_conf_get(conf, "ssl.keystore.password", value, &size),
		RD_KAFKA_CONF_OK);
	assert_string_equal(value, HIDDEN);
	rd_kafka_conf_destroy(conf);
	config_release(&spec, &config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_property_that_sounds_secret_is_known),
		cmocka_unit_test(secrets_are_known_by_their_words),
		cmocka_unit_test(
			what_librdkafka_does_not_take_is_found_by_a_check),
		cmocka_unit_test(the_library_gets_the_secret_itself),
	};

	return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}
