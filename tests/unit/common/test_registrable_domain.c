/* Registrable domains.  The names are of rules that are as old as the list. */
#include "tests/unit/unit.h"

#include <string.h>

#include "common/registrable_domain.h"

static struct host host_of(const char *text)
{
	struct error err = {0};
	struct host host;

	if (host_parse(text, strlen(text), &host, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return host;
}

static void a_name_has_the_domain_that_was_registered(void **state)
{
	static const char *const names[][2] = {
		{"example.com", "example.com"},
		{"a.b.example.com", "example.com"},
		{"WWW.Example.CO.UK.", "example.co.uk"},
		{"a.b\xc3\xbc"
		 "cher.de",
		 "xn--bcher-kva.de"},
		{"a.bad.example", "bad.example"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct host host = host_of(names[i][0]);

		assert_string_equal(registrable_domain(&host), names[i][1]);
		assert_false(is_public_suffix(&host));
	}
}

static void what_nobody_registered_is_itself(void **state)
{
	static const char *const names[] = {"com", "co.uk", "localhost"};
	static const char *const addresses[] = {"192.0.2.7", "[2001:db8::7]"};
	struct host host;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		host = host_of(names[i]);
		assert_string_equal(registrable_domain(&host), names[i]);
		assert_true(is_public_suffix(&host));
	}
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		host = host_of(addresses[i]);
		assert_string_equal(registrable_domain(&host), addresses[i]);
		assert_false(is_public_suffix(&host));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_the_domain_that_was_registered),
		cmocka_unit_test(what_nobody_registered_is_itself),
	};

	return cmocka_run_group_tests_name("registrable domain", tests, NULL,
					   NULL);
}
