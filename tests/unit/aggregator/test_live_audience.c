/* Clicks are delivered to listeners who do not see all links; the archive is
 * real. */
#include "tests/unit/aggregator/live_reader_world.h"
#include "tests/unit/aggregator/settled.h"

static struct clickhouse_server server;

static int set_up(void **state)
{
	*state = start_reader(&server.config);
	return 0;
}

static int set_up_without_archive(void **state)
{
	static struct clickhouse_config nobody;

	configure_no_archive(&nobody);
	*state = start_reader(&nobody);
	return 0;
}

/* The archive has some links, and one that no click can have. */
static int start_archive(void **state)
{
	(void)state;
	clickhouse_server_start(&server);
	settled_make_tables(&server);
	clickhouse_server_do(
		&server, "INSERT INTO links (code, link_id, version, owner, "
			 "account) VALUES ('a', 1, 1, 'ann', 'acme'), "
			 "('b', 2, 1, 'bob', 'acme'), ('c', 3, 1, 'cy', 'co'), "
			 "('z', 0, 1, 'ann', 'acme')");
	return 0;
}

static int stop_archive(void **state)
{
	(void)state;
	clickhouse_server_stop(&server);
	return 0;
}

static struct live_listener listener_to(const char *owners)
{
	struct error err = {0};
	struct live_listener l = {.audience = SEES_SOME, .account = "acme"};

	l.owners = key_names_parse(owners, &err);
	assert_non_null(l.owners);
	return l;
}

static void
a_listener_who_sees_some_is_told_with_the_archives_owner(void **state)
{
	struct live_listener any = {.audience = SEES_SOME, .account = "acme"};
	struct world *w = *state;

	join_reader(w, &any);
	/* The link was given to another owner since. */
	produce_click(w, 2, "ann");
	EVENTUALLY(w->told[SEES_SOME] == 1);
	assert_int_equal(w->last[SEES_SOME], 2);
	assert_string_equal(w->account, "acme");
	assert_string_equal(w->owner, "bob");
	live_reader_leave(w->reader, &any);
	EVENTUALLY(!live_reader_is_ready(w->reader));
}

static void a_click_without_a_link_is_for_those_who_see_all(void **state)
{
	struct live_listener any = {.audience = SEES_SOME, .account = "acme"};
	struct world *w = *state;

	join_reader(w, &any);
	produce_click(w, 0, "ann");
	produce_click(w, 1, "ann");
	EVENTUALLY(w->told[SEES_SOME] == 1);
	assert_int_equal(w->last[SEES_SOME], 1);
	assert_int_equal(w->told[SEES_ALL], 2);
	live_reader_leave(w->reader, &any);
}

/* Clicks each of the three links; listeners receive these of them. */
static void assert_hears(struct world *w, bool ann, bool bob, bool cy)
{
	int before = w->told[SEES_SOME], expected = before + ann + bob + cy;

	produce_click(w, 1, "ann");
	produce_click(w, 2, "bob");
	produce_click(w, 3, "cy");
	EVENTUALLY(w->told[SEES_SOME] >= expected);
	if (cy)
		assert_int_equal(w->last[SEES_SOME], 3);
	else if (bob)
		assert_int_equal(w->last[SEES_SOME], 2);
	else
		assert_int_equal(w->last[SEES_SOME], 1);
	assert_int_equal(w->told[SEES_SOME], expected);
}

static void
a_listener_that_leaves_hears_nothing_more_and_the_others_do(void **state)
{
	static const char *const names[] = {"ann", "bob", "cy"};
	struct world *w = *state;

	for (int leaves = 0; leaves < 3; leaves++) {
		struct live_listener listeners[3];

		for (int i = 0; i < 3; i++) {
			listeners[i] = listener_to(names[i]);
			join_reader(w, &listeners[i]);
		}
		assert_hears(w, true, true, true);
		live_reader_leave(w->reader, &listeners[leaves]);
		assert_hears(w, leaves != 0, leaves != 1, leaves != 2);
		for (int i = 0; i < 3; i++) {
			if (i != leaves)
				live_reader_leave(w->reader, &listeners[i]);
			key_names_free(drop_const(listeners[i].owners));
		}
		EVENTUALLY(!live_reader_is_ready(w->reader));
	}
}

static void a_click_is_lost_for_some_where_no_archive_answers(void **state)
{
	struct live_listener any = {.audience = SEES_SOME, .account = "acme"};
	struct world *w = *state;

	join_reader(w, &any);
	produce_click(w, 1, "ann");
	EVENTUALLY(w->lost[SEES_SOME] == 1);
	assert_int_equal(w->lost[SEES_ALL], 0);
	assert_int_equal(w->told[SEES_SOME], 0);
	live_reader_leave(w->reader, &any);
}

#define AUDIENCE_TEST(f)                                                       \
	cmocka_unit_test_setup_teardown(f, set_up, tear_down_reader)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AUDIENCE_TEST(
			a_listener_who_sees_some_is_told_with_the_archives_owner),
		AUDIENCE_TEST(a_click_without_a_link_is_for_those_who_see_all),
		AUDIENCE_TEST(
			a_listener_that_leaves_hears_nothing_more_and_the_others_do),
		cmocka_unit_test_setup_teardown(
			a_click_is_lost_for_some_where_no_archive_answers,
			set_up_without_archive, tear_down_reader),
	};

	return cmocka_run_group_tests(tests, start_archive, stop_archive);
}
