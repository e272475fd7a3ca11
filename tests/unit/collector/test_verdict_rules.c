#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/enrich/verdict_rules.h"
#include "common/ip.h"

#define ANY "- {verdict: bot, reason: r, "

/* Loads rules from a file with these bytes. */
static struct verdict_rules *load_bytes(const char *yaml, size_t len,
					const char *store_ip, struct error *err)
{
	char path[] = "/tmp/verdict_rules_XXXXXX";
	int fd = mkstemp(path);
	struct verdict_rules *rules;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, yaml, len), len);
	close(fd);
	rules = verdict_rules_load(path, store_ip, err);
	unlink(path);
	return rules;
}

static struct verdict_rules *load_yaml(const char *yaml, const char *store_ip,
				       struct error *err)
{
	return load_bytes(yaml, strlen(yaml), store_ip, err);
}

static struct verdict_rules *must_load(const char *yaml)
{
	struct error err = {0};
	struct verdict_rules *rules = load_yaml(yaml, "whole", &err);

	if (!rules)
		fail_msg("%s", err.text);
	return rules;
}

/* Returns the rule that applies, from 1; 0: none. */
static size_t find_rule_of(const struct verdict_rules *rules,
			   const char *account, const char *owner,
			   const char *address, uint32_t asn, const char *agent)
{
	uint8_t bytes[16] = {0}, ip[16] = {0};
	size_t len = ip_parse(address, bytes);
	const struct verdict_subject s = {account,	 owner, agent,
					  strlen(agent), asn,	ip};
	const struct verdict_rule *rule;

	assert_true(len);
	if (len == 4)
		ip[10] = ip[11] = 0xff;
	memcpy(ip + 16 - len, bytes, len);
	rule = verdict_rules_find(rules, &s);
	return rule ? (size_t)(rule - rules->items) + 1 : 0;
}

static size_t find_rule_number(const struct verdict_rules *rules,
			       const char *owner, const char *address,
			       uint32_t asn, const char *agent)
{
	return find_rule_of(rules, "acme", owner, address, asn, agent);
}

static void the_first_rule_whose_conditions_hold_decides(void **state)
{
	struct verdict_rules *rules =
		must_load("- verdict: human\n"
			  "  reason: our office\n"
			  "  account: acme\n"
			  "  owner: ann\n"
			  "  network: 203.0.113.0/24\n"
			  "- verdict: bot\n"
			  "  reason: rented servers\n"
			  "  asn: [64500, 4294967295]\n"
			  "- verdict: scanner\n"
			  "  reason: heads\n"
			  "  owner: [ann, bob]\n"
			  "  account: acme\n"
			  "  agent: [HeadLess, Probe/]\n"
			  "  network: [2001:db8::/32, 198.51.100.7]\n");

	(void)state;
	assert_int_equal(rules->count, 3);
	assert_true(rules->by_asn);
	assert_int_equal(
		find_rule_number(rules, "ann", "203.0.113.9", 64500, ""), 1);
	assert_int_equal(
		find_rule_of(rules, "shop", "ann", "203.0.113.9", 64500, ""),
		2);
	assert_int_equal(find_rule_of(rules, "shop", "bob", "198.51.100.7", 0,
				      "x probe/1"),
			 0);
	assert_int_equal(
		find_rule_number(rules, "bob", "203.0.113.9", 64500, ""), 2);
	assert_int_equal(
		find_rule_number(rules, "bob", "203.0.113.9", 64501, ""), 0);
	assert_int_equal(
		find_rule_number(rules, "", "203.0.114.0", 4294967295, ""), 2);
	assert_int_equal(find_rule_number(rules, "bob", "2001:db8:ffff::1", 0,
					  "an old headLESS thing"),
			 3);
	assert_int_equal(
		find_rule_number(rules, "bob", "198.51.100.7", 0, "x probe/1"),
		3);
	assert_int_equal(
		find_rule_number(rules, "bob", "198.51.100.8", 0, "probe/1"),
		0);
	assert_int_equal(
		find_rule_number(rules, "bob", "198.51.100.7", 0, "prob/1"), 0);
	assert_int_equal(
		find_rule_number(rules, "carol", "198.51.100.7", 0, "probe/"),
		0);
	assert_string_equal(rules->items[1].verdict.reason,
			    "rule: rented servers");
	assert_string_equal(verdict_rule_reason(&rules->items[1]),
			    "rented servers");
	assert_int_equal(verdict_rules_of_agent(rules, "probe/", 6), 7);
	assert_int_equal(verdict_rules_of_agent(rules, "probe", 5), 3);
	verdict_rules_free(rules);
}

static void a_network_ends_where_its_prefix_says(void **state)
{
	struct verdict_rules *rules =
		must_load(ANY "network: [10.1.2.64/26, '2001:db8:8000::/33', "
			      "192.0.2.77/31]}\n" ANY
			      "network: 0.0.0.0/0}\n" ANY "network: '::/0'}\n");

	(void)state;
	assert_int_equal(find_rule_number(rules, "", "10.1.2.63", 0, ""), 2);
	assert_int_equal(find_rule_number(rules, "", "10.1.2.64", 0, ""), 1);
	assert_int_equal(find_rule_number(rules, "", "10.1.2.127", 0, ""), 1);
	assert_int_equal(find_rule_number(rules, "", "10.1.2.128", 0, ""), 2);
	assert_int_equal(find_rule_number(rules, "", "192.0.2.76", 0, ""), 1);
	assert_int_equal(find_rule_number(rules, "", "192.0.2.78", 0, ""), 2);
	assert_int_equal(
		find_rule_number(rules, "", "2001:db8:7fff:ffff::", 0, ""), 3);
	assert_int_equal(find_rule_number(rules, "", "2001:db8:8000::", 0, ""),
			 1);
	assert_int_equal(find_rule_number(rules, "", "255.255.255.255", 0, ""),
			 2);
	verdict_rules_free(rules);
}

static void a_person_by_a_rule_may_still_fetch_ahead(void **state)
{
	struct verdict_rules *rules =
		must_load("- {verdict: human, reason: r, asn: 1}\n"
			  "- {verdict: monitor, reason: r, asn: 2}\n");
	struct verdict v = verdict_of_rule(&rules->items[0], "", false);

	(void)state;
	assert_int_equal(v.kind, VERDICT_HUMAN);
	assert_string_equal(v.reason, "rule: r");
	v = verdict_of_rule(&rules->items[0], "prefetch", false);
	assert_int_equal(v.kind, VERDICT_PREFETCH);
	assert_string_equal(v.reason, "purpose header");
	v = verdict_of_rule(&rules->items[0], "", true);
	assert_string_equal(v.reason, "HEAD request");
	v = verdict_of_rule(&rules->items[1], "prefetch", true);
	assert_int_equal(v.kind, VERDICT_MONITOR);
	verdict_rules_free(rules);
}

static void what_is_no_rule_is_refused_by_name(void **state)
{
	static const struct {
		const char *yaml, *says;
	} cases[] = {
		{"verdict: bot\n", "expected a list"},
		{"- verdict: bot\n  reason: 'r\n", "line "},
		{"- bot\n", "rule 1: expected names and values"},
		{ANY "asn: 1}\n- {verdict: bot, asn: 1}\n",
		 "rule 2: reason is missing"},
		{"- {reason: r, asn: 1}\n", "rule 1: verdict is missing"},
		{"- {verdict: prefetch, reason: r, asn: 1}\n",
		 "rule 1: verdict: expected human, bot"},
		{"- {verdict: bot, reason: '', asn: 1}\n", "reason: expected"},
		{"- {verdict: bot, reason: \"a\\nb\", asn: 1}\n",
		 "control characters"},
		{ANY "account: acme, owner: ann}\n", "it takes everything"},
		{ANY "account: acme}\n", "it takes everything"},
		{ANY "asn: 1, owner: ann}\n", "expected one account beside"},
		{ANY "asn: 1, owner: ann, account: [a, b]}\n",
		 "expected one account beside"},
		{ANY "asn: 1, account: ''}\n", "account: expected a text"},
		{ANY "asn: 0}\n", "asn: expected a number from 1"},
		{ANY "asn: 4294967296}\n", "asn: expected a number"},
		{ANY "asn: AS1}\n", "asn: expected a number"},
		{ANY "asn: []}\n", "asn: expected 1 to 100 values"},
		{ANY "agent: ''}\n", "agent: expected a text"},
		{ANY "agent: [[a]]}\n", "agent: expected a text"},
		{ANY "asn: 1, owner: 7}\n", "owner: expected a text"},
		{ANY "network: 10.0.0.0/33}\n", "network: expected"},
		{ANY "network: 10.0.0/8}\n", "network: expected"},
		{ANY "network: 10.0.0.0/}\n", "network: expected"},
		{ANY "network: 10.0.0.0/-1}\n", "network: expected"},
		{ANY "network: '::/129'}\n", "network: expected"},
		{ANY "network: example.org}\n", "network: expected"},
		{ANY "asn: 1, country: DE}\n", "country: not known"},
		/* A "- " is missing here. */
		{"- verdict: human\n  reason: our office\n"
		 "  network: 198.51.100.0/24\n"
		 "  verdict: bot\n  reason: rented\n  asn: [64500]\n",
		 "line 4: verdict: given twice"},
		{ANY "asn: 1}\n---\n" ANY "asn: 2}\n",
		 "line 3: a second document"},
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		err = (struct error){0};
		assert_null(load_yaml(cases[i].yaml, "whole", &err));
		assert_int_equal(err.code, ERROR_CONFIG);
		if (!strstr(err.text, cases[i].says) ||
		    !strstr(err.text, "/tmp/verdict_rules_"))
			fail_msg("case %zu: %s", i, err.text);
	}
}

static void a_file_of_comments_has_no_rules(void **state)
{
	struct verdict_rules *rules = must_load("# - {verdict: bot}\n");

	(void)state;
	assert_int_equal(rules->count, 0);
	verdict_rules_free(rules);
}

static void a_network_is_as_wide_as_what_is_stored(void **state)
{
	static const struct {
		const char *network, *store_ip;
		bool accepted;
	} cases[] = {
		{"10.0.0.0/24", "truncated", true},
		{"10.0.0.0/8", "truncated", true},
		{"10.0.0.0/25", "truncated", false},
		{"10.0.0.1", "truncated", false},
		{"10.0.0.1", "whole", true},
		{"2001:db8:1::/48", "truncated", true},
		{"2001:db8:1::/49", "truncated", false},
		{"2002:a00::/40", "truncated", true},
		{"2002:a00::/41", "truncated", false},
		{"::/0", "truncated", true},
		{"10.0.0.0/8", "none", false},
		{"::/0", "none", false},
	};
	struct verdict_rules *rules;
	struct error err;
	char yaml[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		err = (struct error){0};
		snprintf(yaml, sizeof(yaml), ANY "network: '%s'}\n",
			 cases[i].network);
		rules = load_yaml(yaml, cases[i].store_ip, &err);
		if ((rules != NULL) != cases[i].accepted)
			fail_msg("case %zu: %s", i, err.text);
		verdict_rules_free(rules);
	}
	assert_non_null(strstr(err.text, "narrower than what is stored"));
}

static void there_may_be_none(void **state)
{
	struct error err = {0};
	struct verdict_rules *rules = verdict_rules_load(NULL, "whole", &err);

	(void)state;
	assert_non_null(rules);
	assert_int_equal(find_rule_number(rules, "ann", "10.0.0.1", 1, "x"), 0);
	verdict_rules_free(rules);
	assert_null(verdict_rules_load("/nowhere/rules", "whole", &err));
	assert_non_null(strstr(err.text, "/nowhere/rules"));
	assert_int_equal(err.code, ERROR_CONFIG);
}

/* Returns `yaml` with `text` in it this many times, separated by commas. */
static char *yaml_of(const char *before, const char *text, size_t times,
		     const char *after)
{
	char *yaml = calloc(1, strlen(before) + strlen(after) +
				       times * (strlen(text) + 2) + 1);

	assert_non_null(yaml);
	strcpy(yaml, before);
	for (size_t i = 0; i < times; i++) {
		if (i > 0)
			strcat(yaml, *before ? ", " : "");
		strcat(yaml, text);
	}
	return strcat(yaml, after);
}

/* The rules accept `most` of them, and refuse one more. */
static void assert_most(const char *before, const char *text, size_t most,
			const char *after, const char *says)
{
	char *yaml = yaml_of(before, text, most, after);
	struct verdict_rules *rules = must_load(yaml);
	struct error err = {0};

	verdict_rules_free(rules);
	free(yaml);
	yaml = yaml_of(before, text, most + 1, after);
	assert_null(load_yaml(yaml, "whole", &err));
	if (!strstr(err.text, says))
		fail_msg("%s", err.text);
	free(yaml);
}

static void there_are_only_so_many(void **state)
{
	(void)state;
	assert_most("", ANY "asn: 1}\n", VERDICT_RULES_MAX, "",
		    "a list of at most");
	assert_most(ANY "asn: [", "7", VERDICT_RULE_VALUES_MAX, "]}\n",
		    "asn: expected 1 to 100 values");
	assert_most(ANY "asn: 1, account: [", "a", VERDICT_RULE_VALUES_MAX,
		    "]}\n", "account: expected 1 to 100 values");
	assert_most(ANY "asn: 1, account: a, owner: [", "a",
		    VERDICT_RULE_VALUES_MAX, "]}\n",
		    "owner: expected 1 to 100 values");
}

static void a_reason_is_a_short_line(void **state)
{
	char reason[VERDICT_RULE_REASON_MAX + 2] = "", yaml[1024];
	struct error err = {0};
	struct verdict_rules *rules;

	(void)state;
	memset(reason, 'r', VERDICT_RULE_REASON_MAX);
	snprintf(yaml, sizeof(yaml), "- {verdict: bot, reason: %s, asn: 1}\n",
		 reason);
	rules = must_load(yaml);
	assert_string_equal(verdict_rule_reason(&rules->items[0]), reason);
	verdict_rules_free(rules);
	reason[VERDICT_RULE_REASON_MAX] = 'r';
	snprintf(yaml, sizeof(yaml), "- {verdict: bot, reason: %s, asn: 1}\n",
		 reason);
	assert_null(load_yaml(yaml, "whole", &err));
	assert_non_null(strstr(err.text, "reason: expected"));
	assert_null(load_yaml("- {verdict: bot, reason: \"a\\x7f\", asn: 1}\n",
			      "whole", &err));
	assert_non_null(strstr(err.text, "control characters"));
	rules = must_load("- {verdict: bot, reason: \"a b\", asn: 1}\n");
	verdict_rules_free(rules);
}

static void each_verdict_has_its_name(void **state)
{
	static const enum verdict_kind kinds[] = {
		VERDICT_HUMAN, VERDICT_BOT, VERDICT_PREVIEW, VERDICT_MONITOR,
		VERDICT_SCANNER};
	struct verdict_rules *rules;
	char yaml[96];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(yaml, sizeof(yaml),
			 "- {verdict: %s, reason: r, agent: a}\n",
			 verdict_name(kinds[i]));
		rules = must_load(yaml);
		assert_int_equal(rules->items[0].verdict.kind, kinds[i]);
		assert_false(rules->by_asn);
		verdict_rules_free(rules);
	}
}

static void the_last_rule_has_a_bit_of_its_own(void **state)
{
	char *yaml = yaml_of("", ANY "agent: probe}\n", VERDICT_RULES_MAX, "");
	struct verdict_rules *rules = must_load(yaml);

	(void)state;
	assert_int_equal(VERDICT_RULES_MAX, 64);
	assert_true(verdict_rules_of_agent(rules, "a Probe", 7) == UINT64_MAX);
	assert_true(verdict_rules_of_agent(rules, "a Probe", 6) == 0);
	verdict_rules_free(rules);
	free(yaml);
}

static void a_number_is_one_of_those_that_there_are(void **state)
{
	struct verdict_rules *rules =
		must_load(ANY "asn: 1}\n" ANY "asn: 4294967295}\n");

	(void)state;
	assert_int_equal(find_rule_number(rules, "", "10.0.0.1", 1, ""), 1);
	assert_int_equal(
		find_rule_number(rules, "", "10.0.0.1", UINT32_MAX, ""), 2);
	assert_int_equal(find_rule_number(rules, "", "10.0.0.1", 0, ""), 0);
	verdict_rules_free(rules);
}

static void an_address_is_no_longer_than_one_can_be(void **state)
{
	char yaml[256], address[64] = "";
	struct error err;

	(void)state;
	for (size_t len = 40; len < 60; len++) {
		memset(address, '1', len);
		address[len] = '\0';
		snprintf(yaml, sizeof(yaml), ANY "network: '%s/8'}\n", address);
		assert_null(load_yaml(yaml, "whole", &err));
		assert_non_null(strstr(err.text, "network: expected"));
	}
}

static void a_file_is_text_and_not_too_long(void **state)
{
	static const char zero[] = "# a comment\0 and more\n";
	char *text = malloc(VERDICT_RULES_FILE_MAX + 1);
	struct verdict_rules *rules;
	struct error err = {0};

	(void)state;
	assert_null(load_bytes(zero, sizeof(zero) - 1, "whole", &err));
	assert_non_null(strstr(err.text, "zero byte"));
	memset(text, '#', VERDICT_RULES_FILE_MAX + 1);
	rules = load_bytes(text, VERDICT_RULES_FILE_MAX, "whole", &err);
	if (!rules)
		fail_msg("%s", err.text);
	verdict_rules_free(rules);
	assert_null(
		load_bytes(text, VERDICT_RULES_FILE_MAX + 1, "whole", &err));
	assert_non_null(strstr(err.text, "is longer than"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rule_whose_conditions_hold_decides),
		cmocka_unit_test(a_network_ends_where_its_prefix_says),
		cmocka_unit_test(a_person_by_a_rule_may_still_fetch_ahead),
		cmocka_unit_test(what_is_no_rule_is_refused_by_name),
		cmocka_unit_test(a_file_of_comments_has_no_rules),
		cmocka_unit_test(a_network_is_as_wide_as_what_is_stored),
		cmocka_unit_test(there_may_be_none),
		cmocka_unit_test(there_are_only_so_many),
		cmocka_unit_test(a_reason_is_a_short_line),
		cmocka_unit_test(each_verdict_has_its_name),
		cmocka_unit_test(the_last_rule_has_a_bit_of_its_own),
		cmocka_unit_test(a_number_is_one_of_those_that_there_are),
		cmocka_unit_test(an_address_is_no_longer_than_one_can_be),
		cmocka_unit_test(a_file_is_text_and_not_too_long),
	};

	return cmocka_run_group_tests_name("verdict_rules", tests, NULL, NULL);
}
