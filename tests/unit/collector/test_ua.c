#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/enrich/ua/ua.h"

/* A small file in uap-core's format, with every kind of rule. */
static const char rules_text[] =
	"user_agent_parsers:\n"
	"  - regex: '(Lynx)/(\\d+)\\.(\\d+)(?:\\.(\\d+))?'\n"
	"  - regex: 'Talk(\\w*) (\\d+)'\n"
	"    family_replacement: 'Talker $1'\n"
	"    v1_replacement: '7'\n"
	"  - regex: 'Bare'\n"
	"    family_replacement: 'Bare'\n"
	"os_parsers:\n"
	"  - regex: '(Plan) (\\d+)'\n"
	"    os_v2_replacement: 'b$2'\n"
	"device_parsers:\n"
	"  - regex: 'phone-(\\w+) *([xyz]*)'\n"
	"    regex_flag: 'i'\n"
	"    device_replacement: 'Acme $1 $2'\n"
	"    brand_replacement: 'Acme'\n"
	"  - regex: '; ([a-z ]+)/'\n";

static struct ua_rules *load_rules(const char *text, struct error *err)
{
	char path[] = "/tmp/shortloop-ua-XXXXXX";
	int fd = mkstemp(path);
	struct ua_rules *rules;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	rules = ua_rules_load(path, true, err);
	unlink(path);
	return rules;
}

static void assert_field(const char *ua, enum ua_field field,
			 const char *expected)
{
	struct error err = {0};
	struct ua_rules *rules = load_rules(rules_text, &err);
	struct ua_parser *p = ua_parser_new(rules, &err);
	struct ua_result r = {0};
	struct ua_text t;

	assert_non_null(p);
	assert_int_equal(ua_parse(p, ua, strlen(ua), &r, &err), 0);
	t = ua_get(&r, field);
	assert_int_equal(t.len, strlen(expected));
	assert_memory_equal(t.data, expected, t.len);
	ua_result_free(&r);
	ua_parser_free(p);
	ua_rules_free(rules);
}

static void groups_are_the_default(void **state)
{
	(void)state;
	assert_field("Lynx/2.8.9", UA_FAMILY, "Lynx");
	assert_field("Lynx/2.8.9", UA_MAJOR, "2");
	assert_field("Lynx/2.8.9", UA_PATCH, "9");
}

static void a_group_that_took_no_part_is_absent(void **state)
{
	(void)state;
	assert_field("Lynx/2.8", UA_PATCH, "");
	assert_field("Lynx/2.8", UA_PATCH_MINOR, "");
}

static void a_replacement_takes_groups_in(void **state)
{
	(void)state;
	assert_field("Talkative 3", UA_FAMILY, "Talker ative");
	assert_field("Talkative 3", UA_MAJOR, "7");
	assert_field("Plan 9", UA_OS_MINOR, "b9");
}

static void blanks_around_a_value_are_trimmed(void **state)
{
	(void)state;
	assert_field("Talk 3", UA_FAMILY, "Talker");
	assert_field("phone-1", UA_DEVICE_FAMILY, "Acme 1");
}

static void the_flag_i_ignores_case(void **state)
{
	(void)state;
	assert_field("PHONE-A xx", UA_DEVICE_FAMILY, "Acme A xx");
	assert_field("LYNX/1.1", UA_FAMILY, "Other");
}

static void a_device_has_a_brand_only_when_told(void **state)
{
	(void)state;
	assert_field("x; some thing/", UA_DEVICE_FAMILY, "some thing");
	assert_field("x; some thing/", UA_DEVICE_MODEL, "some thing");
	assert_field("x; some thing/", UA_DEVICE_BRAND, "");
}

static void what_no_rule_knows_is_other(void **state)
{
	(void)state;
	assert_field("", UA_FAMILY, "Other");
	assert_field("?", UA_OS_FAMILY, "Other");
	assert_field("\xff\xfe\x80", UA_DEVICE_FAMILY, "Other");
	assert_field("?", UA_DEVICE_BRAND, "");
}

static void assert_refused(const char *text, const char *reason)
{
	struct error err = {0};

	assert_null(load_rules(text, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, reason))
		fail_msg("%s", err.text);
}

static void a_file_of_another_form_is_refused(void **state)
{
	(void)state;
	assert_refused("", "expected lists of rules");
	assert_refused("a: [", ":2: not YAML");
	assert_refused("user_agent_parsers: []\n",
		       "expected a list named os_parsers");
	assert_refused("user_agent_parsers:\n  - x: y\n",
		       ":2: a rule without regex");
	assert_refused("user_agent_parsers:\n  - regex: a\n  - regex: '('\n",
		       ":3: (: at character 1");
	assert_refused("user_agent_parsers:\n  - regex: [a]\n",
		       ":2: expected a text");
	assert_refused("user_agent_parsers:\n"
		       "  - regex: a\n    regex_flag: 'x'\n",
		       "regex_flag: expected i");
}

static void a_missing_file_is_named(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(ua_rules_load("/nowhere/regexes.yaml", true, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_string_equal(err.text,
			    "user-agent rules: /nowhere/regexes.yaml: "
			    "No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_the_default),
		cmocka_unit_test(a_group_that_took_no_part_is_absent),
		cmocka_unit_test(a_replacement_takes_groups_in),
		cmocka_unit_test(blanks_around_a_value_are_trimmed),
		cmocka_unit_test(the_flag_i_ignores_case),
		cmocka_unit_test(a_device_has_a_brand_only_when_told),
		cmocka_unit_test(what_no_rule_knows_is_other),
		cmocka_unit_test(a_file_of_another_form_is_refused),
		cmocka_unit_test(a_missing_file_is_named),
	};

	return cmocka_run_group_tests_name("ua", tests, NULL, NULL);
}
