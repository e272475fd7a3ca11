#include "tests/unit/unit.h"

#include <string.h>
#include <time.h>

#include "collector/enrich/click_verdict.h"
#include "collector/ingest/reloader.h"

#define RULES(family)                                                          \
	"user_agent_parsers:\n"                                                \
	"  - regex: '(" family ")/(\\d+)'\n"                                   \
	"os_parsers:\n"                                                        \
	"  - regex: 'Windows'\n"                                               \
	"device_parsers:\n"                                                    \
	"  - regex: 'Phone'\n"

static char english[] = "en";

struct world {
	char rules[64];
	struct collector_settings settings;
	struct collector_metrics metrics;
	struct metrics *registry;
	struct log *log;
	struct reloader *reloader;
	struct enrich_lookups *lookups;
	FILE *null;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	*state = w;
	if (!w)
		return -1;
	unit_write_file(RULES("Alpha"), w->rules);
	w->settings = (struct collector_settings){.ua_rules = w->rules,
						  .geo_language = english,
						  .ua_cache = 1 << 20,
						  .geo_cache = 1 << 20};
	w->null = fopen("/dev/null", "w");
	w->registry = metrics_new();
	w->metrics.reloads =
		metrics_counter(w->registry, "reloads_total", NULL, "x");
	w->metrics.reload_failures =
		metrics_counter(w->registry, "failures_total", NULL, "x");
	w->log = log_new("test", fileno(w->null), LOG_ERROR, LOG_LOGFMT, &err);
	w->lookups = enrich_lookups_new(&w->settings, &err);
	w->reloader = reloader_new(&w->settings, &w->metrics, w->log, &err);
	return w->lookups && w->reloader ? 0 : -1;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	reloader_free(w->reloader);
	enrich_lookups_free(w->lookups);
	log_free(w->log);
	metrics_free(w->registry);
	fclose(w->null);
	unlink(w->rules);
	free(w);
	return 0;
}

static void write_rules(struct world *w, const char *text)
{
	FILE *out = fopen(w->rules, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* Returns whether the columns of a user agent begin with this family, as its
 * length and text. */
static bool is_known_as(struct world *w, const char *ua, const char *family)
{
	struct error err = {0};
	struct agent agent;
	const char *columns;

	assert_int_equal(
		agent_find(w->lookups->agents, ua, strlen(ua), &agent, &err),
		0);
	columns = agent.columns;
	return (size_t)columns[0] == strlen(family) &&
	       !memcmp(columns + 1, family, strlen(family));
}

static void swap_lookups(struct world *w, struct enrich_lookups *fresh)
{
	enrich_lookups_exchange(w->lookups, fresh);
	reloader_give_back(w->reloader, fresh);
}

static void pause_shortly(void)
{
	struct timespec ms = {0, 1000000};

	nanosleep(&ms, NULL);
}

/* Requests user agents, as events would, until the files are loaded. */
static void wait_for_files(struct world *w, const char *family)
{
	struct enrich_lookups *fresh;

	while (!(fresh = reloader_fetch(w->reloader))) {
		assert_true(is_known_as(w, "Alpha/1", family));
		pause_shortly();
	}
	swap_lookups(w, fresh);
}

static void new_files_are_there_between_two_questions(void **state)
{
	struct world *w = *state;

	assert_true(is_known_as(w, "Alpha/1", "Alpha"));
	assert_null(reloader_fetch(w->reloader));
	write_rules(w, RULES("Beta"));
	reloader_ask(w->reloader);
	wait_for_files(w, "Alpha");
	assert_true(is_known_as(w, "Alpha/1", "Other"));
	assert_true(is_known_as(w, "Beta/1", "Beta"));
}

static void other_rules_have_another_number(void **state)
{
	struct world *w = *state;
	uint32_t before = w->lookups->ref.rules;

	reloader_ask(w->reloader);
	wait_for_files(w, "Alpha");
	assert_int_equal(w->lookups->ref.rules, before);
	write_rules(w, RULES("Beta"));
	reloader_ask(w->reloader);
	wait_for_files(w, "Alpha");
	assert_int_not_equal(w->lookups->ref.rules, before);
	assert_int_equal(w->lookups->ref.rules >> 24, VERDICT_VERSION);
}

static void new_places_leave_what_is_known_of_user_agents(void **state)
{
	struct world *w = *state;
	struct enrich_lookups old = *w->lookups, *fresh;
	struct error err = {0};

	write_rules(w, RULES("Beta"));
	fresh = enrich_lookups_new_places(&w->settings, &err);
	assert_non_null(fresh);
	enrich_lookups_exchange(w->lookups, fresh);
	assert_ptr_equal(w->lookups->agents, old.agents);
	assert_int_equal(w->lookups->ref.rules, old.ref.rules);
	assert_ptr_not_equal(w->lookups->places, old.places);
	assert_ptr_equal(fresh->places, old.places);
	assert_ptr_equal(fresh->ref.geo, old.ref.geo);
	enrich_lookups_free(fresh);
	assert_true(is_known_as(w, "Alpha/1", "Alpha"));
}

static void a_broken_file_changes_nothing(void **state)
{
	struct world *w = *state;

	write_rules(w, "user_agent_parsers: 5\n");
	reloader_ask(w->reloader);
	while (!metric_value(w->metrics.reload_failures))
		pause_shortly();
	assert_null(reloader_fetch(w->reloader));
	assert_true(is_known_as(w, "Alpha/1", "Alpha"));
}

/* For the sanitizers: everything at once, with an end in the middle. */
static void files_are_asked_for_and_given_back_at_any_time(void **state)
{
	struct world *w = *state;
	unsigned swaps = 0;

	for (unsigned i = 0; i < 200; i++) {
		struct enrich_lookups *fresh = reloader_fetch(w->reloader);

		if (i % 3 == 0)
			reloader_ask(w->reloader);
		if (fresh) {
			swap_lookups(w, fresh);
			swaps++;
		}
		assert_true(is_known_as(w, "Alpha/1", "Alpha"));
		pause_shortly();
	}
	reloader_ask(w->reloader);
	while (!swaps) {
		struct enrich_lookups *fresh = reloader_fetch(w->reloader);

		if (fresh) {
			swap_lookups(w, fresh);
			swaps++;
		}
		pause_shortly();
	}
	reloader_ask(w->reloader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_files_are_there_between_two_questions),
		TEST(other_rules_have_another_number),
		TEST(new_places_leave_what_is_known_of_user_agents),
		TEST(a_broken_file_changes_nothing),
		TEST(files_are_asked_for_and_given_back_at_any_time),
	};

	return cmocka_run_group_tests_name("reloader", tests, NULL, NULL);
}
