#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "collector/enrich/device_class.h"

static const char rules_path[] = ".deps/uap/regexes.yaml";

struct fixture {
	struct ua_rules *rules;
	struct ua_parser *parser;
};

/* The installed rules: the classes are derived from their words. */
static int load_rules(void **state)
{
	static struct fixture f;
	struct error err = {0};

	if (access(rules_path, R_OK) == 0) {
		f.rules = ua_rules_load(rules_path, true, &err);
		f.parser = ua_parser_new(f.rules, &err);
	}
	*state = &f;
	return 0;
}

static int free_rules(void **state)
{
	struct fixture *f = *state;

	ua_parser_free(f->parser);
	ua_rules_free(f->rules);
	return 0;
}

static void assert_class(void **state, const char *text, const char *expected)
{
	struct fixture *f = *state;
	struct ua_result r = {0};
	struct error err = {0};

	if (!f->parser)
		unit_skip("there are no user-agent rules in .deps/uap");
	assert_int_equal(device_parse(f->parser, text, strlen(text), &r, &err),
			 0);
	assert_string_equal(device_class(&r, text, strlen(text)), expected);
	ua_result_free(&r);
}

static void computers_are_desktops(void **state)
{
	assert_class(state,
		     "Mozilla/5.0 (Windows NT 10.0; Win64; x64) "
		     "AppleWebKit/537.36 (KHTML, like Gecko) "
		     "Chrome/140.0.0.0 Safari/537.36",
		     "desktop");
	assert_class(state,
		     "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) "
		     "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 "
		     "Safari/605.1.15",
		     "desktop");
	assert_class(state,
		     "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) "
		     "Gecko/20100101 Firefox/142.0",
		     "desktop");
	assert_class(state,
		     "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) "
		     "AppleWebKit/537.36 (KHTML, like Gecko) "
		     "Chrome/140.0.0.0 Safari/537.36",
		     "desktop");
}

static void phones_are_mobile(void **state)
{
	assert_class(state,
		     "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) "
		     "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 "
		     "Mobile/15E148 Safari/604.1",
		     "mobile");
	assert_class(state,
		     "Mozilla/5.0 (Linux; Android 14; Pixel 8) "
		     "AppleWebKit/537.36 (KHTML, like Gecko) "
		     "Chrome/140.0.0.0 Mobile Safari/537.36",
		     "mobile");
}

static void tablets_are_tablets(void **state)
{
	assert_class(state,
		     "Mozilla/5.0 (iPad; CPU OS 15_6 like Mac OS X) "
		     "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 "
		     "Mobile/15E148 Safari/604.1",
		     "tablet");
	assert_class(state,
		     "Mozilla/5.0 (Linux; Android 13; SM-X200) "
		     "AppleWebKit/537.36 (KHTML, like Gecko) "
		     "Chrome/140.0.0.0 Safari/537.36",
		     "tablet");
}

static void televisions_consoles_and_watches_are_told_apart(void **state)
{
	assert_class(state,
		     "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) "
		     "AppleWebKit/537.36 (KHTML, like Gecko) "
		     "SamsungBrowser/4.0 Chrome/76.0.3809.146 TV Safari/537.36",
		     "tv");
	assert_class(state,
		     "Mozilla/5.0 (PlayStation 4 11.00) AppleWebKit/605.1.15 "
		     "(KHTML, like Gecko)",
		     "console");
	/* The device's name indicates a console, the model does not. */
	assert_class(state,
		     "Mozilla/5.0 (Nintendo Switch; WebApplet) "
		     "AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.2.20.5 "
		     "NintendoBrowser/5.1.0.22474",
		     "console");
	assert_class(state,
		     "atc/1.0 watchOS/9.6 model/Watch6,9 hwp/t8301 "
		     "build/20U90 (6; dt:264)",
		     "wearable");
}

static void harmonyos_says_what_it_runs_on(void **state)
{
	static const char *const kinds[][2] = {
		{"Phone", "mobile"}, {"Tablet", "tablet"},
		{"PC", "desktop"},   {"2in1", "desktop"},
		{"TV", "tv"},	     {"Wearable", "wearable"},
		{"Car", "mobile"},
	};
	char text[128];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(text, sizeof(text),
			 "Mozilla/5.0 (%s; OpenHarmony 5.0) AppleWebKit/537.36 "
			 "Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1",
			 kinds[i][0]);
		assert_class(state, text, kinds[i][1]);
	}
}

static void assert_field(void **state, const char *text, enum ua_field field,
			 const char *expected)
{
	struct fixture *f = *state;
	struct ua_result r = {0};
	struct error err = {0};

	if (!f->parser)
		skip();
	assert_int_equal(device_parse(f->parser, text, strlen(text), &r, &err),
			 0);
	if (!ua_is(&r, field, expected))
		fail_msg("%s: not '%s'", text, expected);
	ua_result_free(&r);
}

static void systems_that_the_rules_do_not_know_are_named(void **state)
{
	static const char phone[] = "Mozilla/5.0 (Phone; OpenHarmony 5.1.0) "
				    "AppleWebKit/537.36 Mobile";
	static const char ipad[] =
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) "
		"AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/130.0 "
		"Safari/605.1.15";

	assert_field(state, phone, UA_OS_FAMILY, "HarmonyOS");
	assert_field(state, phone, UA_OS_MAJOR, "5");
	assert_field(state, phone, UA_OS_MINOR, "1");
	assert_field(state, phone, UA_OS_PATCH, "0");
	assert_field(state, ipad, UA_OS_FAMILY, "iOS");
	/* The version would be that of a Mac, which the device is not. */
	assert_field(state, ipad, UA_OS_MAJOR, "");
	assert_class(state, ipad, "mobile");
	assert_field(state,
		     "Mozilla/4.0 (compatible; MSIE 6.0; Windows 98; "
		     "PCQuest)",
		     UA_OS_FAMILY, "Windows");
}

static void the_model_of_reduced_agents_is_none(void **state)
{
	static const char reduced[] =
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 "
		"(KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36";

	assert_field(state, reduced, UA_DEVICE_MODEL, "");
	assert_field(state, reduced, UA_DEVICE_FAMILY, "Other");
	assert_class(state, reduced, "mobile");
	assert_field(
		state,
		"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 "
		"(KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
		UA_DEVICE_MODEL, "Pixel 8");
}

static void assert_held(void **state, const char *text, bool expected)
{
	struct fixture *f = *state;
	struct ua_result r = {0};
	struct error err = {0};

	if (!f->parser)
		unit_skip("there are no user-agent rules in .deps/uap");
	assert_int_equal(ua_parse(f->parser, text, strlen(text), &r, &err), 0);
	if (device_is_held(&r) != expected)
		fail_msg("%s", text);
	ua_result_free(&r);
}

static void a_device_is_held_when_its_maker_is_known(void **state)
{
	assert_held(state, "LG KE850 Prada", true);
	assert_held(state, "Amoi-A500", true);
	assert_held(state, "Newsify/120 CFNetwork/672.0.8 Darwin/14.0.0",
		    false);
	assert_held(state, "http-kit/2.0", false);
	assert_held(state,
		    "Mozilla/5.0 (compatible; Googlebot/2.1; "
		    "+http://www.google.com/bot.html)",
		    false);
}

static void the_rest_is_other(void **state)
{
	assert_class(state, "", "other");
	assert_class(state, "x", "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computers_are_desktops),
		cmocka_unit_test(phones_are_mobile),
		cmocka_unit_test(tablets_are_tablets),
		cmocka_unit_test(
			televisions_consoles_and_watches_are_told_apart),
		cmocka_unit_test(a_device_is_held_when_its_maker_is_known),
		cmocka_unit_test(harmonyos_says_what_it_runs_on),
		cmocka_unit_test(systems_that_the_rules_do_not_know_are_named),
		cmocka_unit_test(the_model_of_reduced_agents_is_none),
		cmocka_unit_test(the_rest_is_other),
	};

	return cmocka_run_group_tests_name("device_class", tests, load_rules,
					   free_rules);
}
