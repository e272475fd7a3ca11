/* The number of the verdict rules changes with each rule. */
#include "tests/unit/collector/enricher_settings.h"

#include <string.h>

#include "collector/enrich/click_verdict.h"
#include "collector/enrich/reference.h"

struct world {
	char ua[64], rules[64];
	struct collector_settings settings;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->settings = enricher_settings(w->ua);
	w->settings.scan_window = 60000;
	w->settings.scan_codes = 200;
	w->settings.scan_not_found = 50;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	unlink(w->ua);
	unlink(w->rules);
	free(w);
	return 0;
}

static uint32_t compute_rules_number(const struct world *w)
{
	struct reference ref = {0};
	struct error err = {0};
	uint32_t rules;

	if (reference_load_rules(&ref, &w->settings, &err) < 0)
		fail_msg("%s", err.text);
	rules = ref.rules;
	reference_release(&ref);
	return rules;
}

static void use_rules(struct world *w, const char *text)
{
	unlink(w->rules);
	w->settings.verdict_rules = unit_write_file(text, w->rules);
}

static void the_same_rules_have_the_same_number(void **state)
{
	struct world *w = *state;

	assert_int_equal(compute_rules_number(w), compute_rules_number(w));
	assert_int_equal(compute_rules_number(w) >> 24, VERDICT_VERSION);
}

static void each_setting_and_each_file_makes_another_number(void **state)
{
	struct world *w = *state;
	uint32_t before = compute_rules_number(w);

	w->settings.scan_window++;
	assert_int_not_equal(compute_rules_number(w), before);
	before = compute_rules_number(w);
	w->settings.scan_codes++;
	assert_int_not_equal(compute_rules_number(w), before);
	before = compute_rules_number(w);
	w->settings.scan_not_found++;
	assert_int_not_equal(compute_rules_number(w), before);
	before = compute_rules_number(w);
	use_rules(w, "- {verdict: bot, reason: r, agent: a}\n");
	assert_int_not_equal(compute_rules_number(w), before);
	before = compute_rules_number(w);
	use_rules(w, "- {verdict: bot, reason: r, agent: b}\n");
	assert_int_not_equal(compute_rules_number(w), before);
	before = compute_rules_number(w);
	unlink(w->ua);
	w->settings.ua_rules =
		unit_write_file("user_agent_parsers:\n  - regex: '(Beta)'\n"
				"os_parsers: []\ndevice_parsers: []\n",
				w->ua);
	assert_int_not_equal(compute_rules_number(w), before);
}

static void each_byte_of_a_setting_counts(void **state)
{
	struct world *w = *state;
	uint32_t seen[9];

	seen[8] = compute_rules_number(w);
	for (int byte = 0; byte < 8; byte++) {
		w->settings.scan_codes =
			INT64_C(200) ^ (INT64_C(1) << 8 * byte);
		seen[byte] = compute_rules_number(w);
		for (int other = 0; other < byte; other++)
			assert_int_not_equal(seen[byte], seen[other]);
		assert_int_not_equal(seen[byte], seen[8]);
	}
	/* The two settings are not interchangeable. */
	w->settings.scan_codes = 50;
	w->settings.scan_not_found = 200;
	assert_int_not_equal(compute_rules_number(w), seen[8]);
}

static void each_list_of_robots_makes_another_number(void **state)
{
	static const char list[] = "[{\"pattern\": \"Crawly\"},"
				   " {\"pattern\": \"Phone1\"}]";
	static const char other[] = "[{\"pattern\": \"Crawly\", \"tags\": "
				    "[\"monitoring\"]},"
				    " {\"pattern\": \"Phone1\"}]";
	static char phone[] = "Phone1";
	struct world *w = *state;
	char *except[] = {phone};
	uint32_t none = compute_rules_number(w), listed, tagged;
	char path[64];

	w->settings.robots.list = unit_write_file(list, path);
	listed = compute_rules_number(w);
	assert_int_not_equal(listed, none);
	unlink(path);
	w->settings.robots.list = unit_write_file(other, path);
	tagged = compute_rules_number(w);
	assert_int_not_equal(tagged, listed);
	w->settings.robots.except = (struct setting_strings){except, 1};
	assert_int_not_equal(compute_rules_number(w), tagged);
	unlink(path);
}

/* The rules have more bytes than one read returns. */
static void the_end_of_a_long_file_counts(void **state)
{
	static const char rules[] = "user_agent_parsers:\n"
				    "  - regex: '(Alpha)'\n"
				    "os_parsers: []\ndevice_parsers: []\n";
	enum {
		LONG = 40000
	};
	struct world *w = *state;
	char *text = malloc(sizeof(rules) + LONG);
	size_t len = strlen(rules);
	uint32_t before;

	memcpy(text, rules, len);
	memset(text + len, '#', LONG);
	text[len + LONG] = '\0';
	unlink(w->ua);
	w->settings.ua_rules = unit_write_file(text, w->ua);
	before = compute_rules_number(w);
	text[len + LONG - 1] = '!';
	unlink(w->ua);
	w->settings.ua_rules = unit_write_file(text, w->ua);
	assert_int_not_equal(compute_rules_number(w), before);
	free(text);
}

static void a_file_that_is_not_there_is_named(void **state)
{
	struct world *w = *state;
	struct reference ref = {0};
	struct error err = {0};

	use_rules(w, "- {verdict: bot, reason: r, agent: a}\n");
	unlink(w->rules);
	assert_int_equal(reference_load_rules(&ref, &w->settings, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, w->rules));
	reference_release(&ref);
	w->settings.verdict_rules = NULL;
	unlink(w->ua);
	assert_int_equal(reference_load_rules(&ref, &w->settings, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, w->ua));
	reference_release(&ref);
}

static void rules_of_operators_need_files_of_networks(void **state)
{
	struct world *w = *state;
	struct reference ref = {0};
	struct error err = {0};

	use_rules(w, "- {verdict: bot, reason: r, asn: 7}\n");
	assert_int_equal(reference_load_rules(&ref, &w->settings, &err), 0);
	assert_int_equal(reference_load_places(&ref, &w->settings, &err), 0);
	assert_non_null(reference_remark(&ref));
	reference_release(&ref);
	use_rules(w, "- {verdict: bot, reason: r, agent: a}\n");
	assert_int_equal(reference_load_rules(&ref, &w->settings, &err), 0);
	assert_int_equal(reference_load_places(&ref, &w->settings, &err), 0);
	assert_null(reference_remark(&ref));
	reference_release(&ref);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_same_rules_have_the_same_number),
		TEST(each_setting_and_each_file_makes_another_number),
		TEST(each_byte_of_a_setting_counts),
		TEST(each_list_of_robots_makes_another_number),
		TEST(the_end_of_a_long_file_counts),
		TEST(a_file_that_is_not_there_is_named),
		TEST(rules_of_operators_need_files_of_networks),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
