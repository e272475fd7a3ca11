/* The redirector and the collector must agree on real user agents: those of
 * uap-core's tests, of the list of robots, and the browsers with the largest
 * market shares. */
#include "tests/unit/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "collector/enrich/device_class.h"
#include "common/agent/device.h"
#include "common/agent/verdict.h"

#define CASES  "/usr/share/uap-core/"
#define ROBOTS ".deps/bots/crawler-user-agents.json"
#define WORDS  ".deps/bots/isbot-patterns.json"

struct world {
	struct ua_rules *rules;
	struct ua_parser *parser;
	struct ua_result result;
	/* The collector's robots, with patterns of words, and the redirector's.
	 */
	struct bots *bots, *fewer;
	struct pattern_matcher *matcher, *fewer_matcher;
	size_t agents, wrong;
};

typedef void agent_fn(struct world *w, const char *text, size_t len);

static struct bots *load_bots(const char *patterns, bool jit)
{
	static char android[] = "AP3A\\.240617\\.008",
		    facebook[] = "MetaIAB Facebook";
	char *people[] = {android, facebook};
	const struct setting_strings except = {people, 2};
	const struct bots_source source = {ROBOTS, patterns, &except, jit};
	struct error err;
	struct bots *bots = bots_load(&source, true, &err);

	assert_non_null(bots);
	return bots;
}

static int set_up_world(void **state)
{
	static struct world w;
	struct error err;

	*state = &w;
	if (access(".deps/uap/regexes.yaml", R_OK) < 0 ||
	    access(CASES "tests/test_os.yaml", R_OK) < 0)
		return 0;
	w.rules = ua_rules_load(".deps/uap/regexes.yaml", true, &err);
	w.parser = ua_parser_new(w.rules, &err);
	w.bots = load_bots(WORDS, true);
	w.fewer = load_bots(NULL, false);
	w.matcher = pattern_matcher_new(bots_patterns(w.bots), &err);
	w.fewer_matcher = pattern_matcher_new(bots_patterns(w.fewer), &err);
	return 0;
}

static int tear_down_world(void **state)
{
	struct world *w = *state;

	pattern_matcher_free(w->matcher);
	pattern_matcher_free(w->fewer_matcher);
	bots_free(w->bots);
	bots_free(w->fewer);
	ua_result_free(&w->result);
	ua_parser_free(w->parser);
	ua_rules_free(w->rules);
	return 0;
}

/* --- agents ---------------------------------------------------------------
 */

/* Calls `fn` for each text of a key with that name. */
static void each_of_yaml(struct world *w, const char *path, agent_fn *fn)
{
	FILE *f = fopen(path, "re");
	yaml_parser_t parser;
	yaml_event_t event;
	bool next = false, end = false;

	assert_non_null(f);
	assert_true(yaml_parser_initialize(&parser));
	yaml_parser_set_input_file(&parser, f);
	while (!end && yaml_parser_parse(&parser, &event)) {
		const char *text = (const char *)event.data.scalar.value;

		end = event.type == YAML_STREAM_END_EVENT;
		if (event.type == YAML_SCALAR_EVENT && next)
			fn(w, text, event.data.scalar.length);
		next = event.type == YAML_SCALAR_EVENT && !next &&
		       !strcmp(text, "user_agent_string");
		yaml_event_delete(&event);
	}
	assert_true(end);
	yaml_parser_delete(&parser);
	fclose(f);
}

/* Calls `fn` for each item's text, or list of texts, at that key. */
static void each_of_json(struct world *w, const char *path, const char *key,
			 agent_fn *fn)
{
	json_t *list = json_load_file(path, 0, NULL), *item, *text;
	size_t i, j;

	assert_true(json_is_array(list));
	json_array_foreach(list, i, item)
	{
		json_t *value = json_object_get(item, key);

		if (json_is_string(value))
			fn(w, json_string_value(value),
			   json_string_length(value));
		json_array_foreach(value, j, text) fn(
			w, json_string_value(text), json_string_length(text));
	}
	json_decref(list);
}

static void check_every_agent(struct world *w, agent_fn *fn)
{
	static const char *const cases[] = {
		CASES "tests/test_os.yaml",
		CASES "tests/test_ua.yaml",
		CASES "tests/test_device.yaml",
		CASES "test_resources/additional_os_tests.yaml",
		CASES "test_resources/firefox_user_agent_strings.yaml",
		CASES "test_resources/opera_mini_user_agent_strings.yaml",
		CASES "test_resources/pgts_browser_list.yaml",
		CASES "test_resources/podcasting_user_agent_strings.yaml",
	};

	if (!w->parser)
		skip();
	w->agents = w->wrong = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		each_of_yaml(w, cases[i], fn);
	each_of_json(w, ROBOTS, "instances", fn);
	each_of_json(w, ".deps/ua/user-agents.json", "userAgent", fn);
	assert_true(w->agents > 40000);
	assert_int_equal(w->wrong, 0);
}

static void report_difference(struct world *w, const char *text, size_t len,
			      const char *redirector, const char *collector)
{
	w->wrong++;
	print_message("%.*s: %s, %s\n", (int)len, text, redirector, collector);
}

/* --- comparison -----------------------------------------------------------
 */

/* A watch has no target, whatever its system is named. */
static bool is_held_up(const char *class)
{
	return !strcmp(class, "mobile") || !strcmp(class, "tablet");
}

static void compare_devices(struct world *w, const char *text, size_t len)
{
	enum device_system system = agent_device_of(text, len).system;
	const char *class, *theirs = "another";
	const char *ours = "another";
	struct error err;

	w->agents++;
	assert_int_equal(device_parse(w->parser, text, len, &w->result, &err),
			 0);
	class = device_class(&w->result, text, len);
	if (system == SYSTEM_IOS)
		ours = "iOS";
	else if (system == SYSTEM_ANDROID)
		ours = "Android";
	if (ua_is(&w->result, UA_OS_FAMILY, "iOS") && is_held_up(class))
		theirs = "iOS";
	else if (ua_is(&w->result, UA_OS_FAMILY, "Android"))
		theirs = "Android";
	if (strcmp(ours, theirs) != 0)
		report_difference(w, text, len, ours, theirs);
}

static void targets_are_of_the_system_that_clicks_have(void **state)
{
	check_every_agent(*state, compare_devices);
}

static bool is_purpose(const struct bot *bot)
{
	return bot->kind != BOT_CRAWLER && bot->kind != BOT_TOOL;
}

static void compare_robots(struct world *w, const char *text, size_t len)
{
	struct bot bot, fewer;
	struct error err;
	bool robot, uncounted;

	w->agents++;
	assert_int_equal(device_parse(w->parser, text, len, &w->result, &err),
			 0);
	robot = bots_find(w->bots, w->matcher, text, len,
			  device_is_held(&w->result), &bot);
	uncounted =
		bots_find(w->fewer, w->fewer_matcher, text, len, true, &fewer);
	uncounted = verdict_uses_no_visit(uncounted ? &fewer : NULL, "", false);
	if (uncounted && !robot)
		report_difference(w, text, len, "a fetch", "a person's click");
	else if (robot && is_purpose(&bot) && !uncounted)
		report_difference(w, text, len, "a visit",
				  verdict_of_bot(&bot).reason);
}

static void what_uses_up_no_visit_is_no_click(void **state)
{
	check_every_agent(*state, compare_robots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_of_the_system_that_clicks_have),
		cmocka_unit_test(what_uses_up_no_visit_is_no_click),
	};

	return cmocka_run_group_tests(tests, set_up_world, tear_down_world);
}
