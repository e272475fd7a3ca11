/* Which requests are no visits, by a list that can be reloaded. */
#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/visit/robots.h"

#define LIST "[{\"pattern\": \"Crawly\"}, {\"pattern\": \"Phone1\"}]"

struct world {
	char path[64];
	char *except[1];
	struct robots_config config;
	struct reloadable *robots;
	struct robots_view view;
};

static void write_list(const struct world *w, const char *text)
{
	FILE *out = fopen(w->path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int make_world(void **state)
{
	static char phone[] = "Phone1";
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	w->except[0] = phone;
	w->config.list = unit_write_file(LIST, w->path);
	w->config.except = (struct setting_strings){w->except, 1};
	w->robots = reloadable_new(&robots_kind, &w->config, &err);
	if (!w->robots)
		fail_msg("%s", err.text);
	w->view.of = w->robots;
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	robots_view_release(&w->view);
	reloadable_free(w->robots);
	unlink(w->path);
	free(w);
	return 0;
}

static int64_t count_robots(struct reloadable *robots)
{
	struct log_field fields[RELOAD_FIELDS];
	struct versions_user user;

	reloadable_join(robots, &user);
	robots_kind.describe(versions_use(&user), fields);
	versions_leave(&user);
	return fields[0].number;
}

/* Returns whether a request with this agent and purpose is no visit. */
static bool is_fetch(struct world *w, const char *agent, const char *purpose,
		     bool head, size_t max)
{
	const struct click click = {
		.user_agent = {agent, strlen(agent)},
		.prefetch = {purpose, strlen(purpose)},
	};

	return robots_view_is_fetch(&w->view, &click, head, max);
}

static void who_is_on_the_list_makes_no_visit(void **state)
{
	struct world *w = *state;

	assert_true(is_fetch(w, "a Crawly", "", false, 2048));
	assert_false(is_fetch(w, "a Person", "", false, 2048));
	assert_false(is_fetch(w, "Phone1", "", false, 2048));
	assert_true(is_fetch(w, "a Crawly", "", false, 2048));
	assert_false(is_fetch(w, "", "", false, 2048));
	assert_true(reloadable_has_file(w->robots));
}

static void head_and_prefetch_are_no_visits_of_anybody(void **state)
{
	struct world *w = *state;

	assert_true(is_fetch(w, "a Person", "", true, 2048));
	assert_true(is_fetch(w, "a Person", "prefetch", false, 2048));
	assert_true(is_fetch(w, "", "prefetch", false, 2048));
	assert_false(is_fetch(w, "a Person", "else", false, 2048));
}

/* Only the start of an agent counts, up to the maximum length in an event. */
static void what_an_event_does_not_have_is_not_looked_at(void **state)
{
	struct world *w = *state;
	char agent[2100];

	assert_true(is_fetch(w, "a Crawly", "", false, 8));
	assert_false(is_fetch(w, "a Crawly", "", false, 7));
	memset(agent, 'x', sizeof(agent));
	strcpy(agent + 2042, "Crawly");
	assert_true(is_fetch(w, agent, "", false, 4096));
	agent[2042] = 'x';
	strcpy(agent + 2043, "Crawly");
	assert_false(is_fetch(w, agent, "", false, 4096));
}

static void a_purpose_is_as_long_as_its_event_has_it(void **state)
{
	struct world *w = *state;
	char purpose[CLICK_PREFETCH_MAX + 2];

	memset(purpose, ' ', sizeof(purpose));
	strcpy(purpose + CLICK_PREFETCH_MAX - 8, "prefetch");
	assert_true(is_fetch(w, "a Person", purpose, false, 2048));
	memset(purpose, ' ', sizeof(purpose));
	strcpy(purpose + CLICK_PREFETCH_MAX - 7, "prefetch");
	assert_false(is_fetch(w, "a Person", purpose, false, 2048));
}

static void a_list_that_is_read_again_is_looked_into(void **state)
{
	struct world *w = *state;
	/* The excepted pattern is not included. */
	int64_t count = count_robots(w->robots);
	struct error err = {0};

	assert_true(is_fetch(w, "a Crawly", "", false, 2048));
	assert_false(is_fetch(w, "a Strider", "", false, 2048));
	write_list(w, "[{\"pattern\": \"Strider\"}, {\"pattern\": \"A\"},"
		      " {\"pattern\": \"B\"}]");
	assert_int_equal(reloadable_read(w->robots, &err), 0);
	assert_int_equal(count_robots(w->robots), count + 2);
	assert_false(is_fetch(w, "a Crawly", "", false, 2048));
	assert_true(is_fetch(w, "a Strider", "", false, 2048));
}

static void a_list_with_a_mistake_changes_nothing(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	write_list(w, "[");
	assert_int_equal(reloadable_read(w->robots, &err), -1);
	assert_non_null(strstr(err.text, w->path));
	assert_true(is_fetch(w, "a Crawly", "", false, 2048));
	assert_null(reloadable_new(&robots_kind, &w->config, &err));
}

static void there_may_be_no_list(void **state)
{
	static const struct robots_config none;
	struct error err = {0};
	struct reloadable *robots = reloadable_new(&robots_kind, &none, &err);

	(void)state;
	assert_non_null(robots);
	assert_false(reloadable_has_file(robots));
	reloadable_free(robots);
	reloadable_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_is_on_the_list_makes_no_visit),
		TEST(head_and_prefetch_are_no_visits_of_anybody),
		TEST(what_an_event_does_not_have_is_not_looked_at),
		TEST(a_purpose_is_as_long_as_its_event_has_it),
		TEST(a_list_that_is_read_again_is_looked_into),
		TEST(a_list_with_a_mistake_changes_nothing),
		cmocka_unit_test(there_may_be_no_list),
	};

	return cmocka_run_group_tests_name("robots", tests, NULL, NULL);
}
