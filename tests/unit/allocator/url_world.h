/* url_world.h - policies with two domains, and their decisions about URLs. */
#ifndef TESTS_UNIT_ALLOCATOR_URL_WORLD_H
#define TESTS_UNIT_ALLOCATOR_URL_WORLD_H

#include "tests/unit/unit.h"

#include <string.h>

#include "allocator/policy/url_policy.h"

static char allow[] = "allow";
static char main_name[] = "main", https[] = "https", sho_rt[] = "sho.rt",
	    idn_host[] = "b\xc3\xbc"
			 "cher.example",
	    *hosts[] = {sho_rt, idn_host};
static struct domain_config domain = {
	.name = main_name, .hosts = {hosts, 2}, .scheme = https};
static const struct domains_config domains_config = {.list = {&domain, 1}};
static struct domains *domains;

static inline struct url_policy *
policy_with(const struct url_policy_config *config)
{
	struct error err = {0};
	struct url_policy *policy =
		url_policy_new(config, domains, "http://localhost:8080", &err);

	if (!policy)
		fail_msg("%s", err.text);
	return policy;
}

static inline void make_domains(void)
{
	struct error err = {0};

	domains = domains_open(&domains_config, NULL, NULL, &err);
	assert_non_null(domains);
}

static inline void assert_stored(struct url_policy *policy, const char *url,
				 const char *want)
{
	struct error err = {0};
	struct buf out = {0};

	if (url_policy_check(policy, url, strlen(url), &out, &err) < 0)
		fail_msg("%s: %s", url, err.text);
	assert_string_equal(out.data, want);
	assert_int_equal(out.len, strlen(want));
	buf_free(&out);
}

static inline void assert_taken(struct url_policy *policy, const char *url)
{
	assert_stored(policy, url, url);
}

static inline void assert_refused(struct url_policy *policy, const char *url,
				  const char *says)
{
	struct error err = {0};
	struct buf out = {0};

	if (url_policy_check(policy, url, strlen(url), &out, &err) == 0)
		fail_msg("'%s' was taken as '%s'", url, out.data);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_null(out.data);
	if (!strstr(err.text, says))
		fail_msg("%s: '%s' does not say '%s'", url, err.text, says);
}

#endif
