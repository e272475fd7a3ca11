/* Questions that are answered from rows, sealed days and owners' days. */
#include "tests/unit/aggregator/asked_sql.h"

#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/api/statistics/owner_sql.h"

/* --- rows -------------------------------------------------------------------
 */

static void
rows_are_counted_from_the_first_moment_to_before_the_last(void **state)
{
	struct settled *t = *state;
	static const char *const uniques[] = {
		[BOTS_EXCLUDE] = "7\t5",
		[BOTS_INCLUDE] = "12\t7",
		[BOTS_ONLY] = "5\t2",
	};
	const struct clicks_scope scope = {0};

	insert_all(t);
	for (int exact = 0; exact < 2; exact++) {
		for (int bots = 0; bots < 3; bots++) {
			struct question q = question_of((enum bots_mode)bots);
			struct buf sql = {0};
			char expected[80];

			clicks_sql_rows(&sql, &q, &one, &scope, exact);
			snprintf(expected, sizeof(expected),
				 "total\t0\t\t\t23\t22\t5\t2\t%s\n",
				 uniques[bots]);
			assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
					    expected);
		}
	}
}

static void each_bucket_has_its_rows(void **state)
{
	struct settled *t = *state;
	struct question q = question_of(BOTS_EXCLUDE);
	const struct clicks_scope scope = {0};
	struct buf sql = {0};
	char expected[200];

	insert_all(t);
	clicks_sql_rows(&sql, &q, &two_hours, &scope, true);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t19\t18\t4\t2\t7\t5\n"
		 "bucket\t%" PRId64 "\t\t\t4\t4\t1\t0\t3\t3\n"
		 "total\t0\t\t\t23\t22\t5\t2\t7\t5\n",
		 FROM, FROM + HOUR);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days), expected);
}

static void a_scope_has_its_link_or_its_owners(void **state)
{
	struct settled *t = *state;
	struct question q = question_of(BOTS_EXCLUDE);
	const struct clicks_scope link = {.link = true};
	const struct clicks_scope owners = {.bounded = true};
	struct buf sql = {0};
	struct lists bob = no_days;

	insert_all(t);
	/* Another account has an owner of the same name. */
	t->account = "shop";
	t->owner = "ann";
	settled_insert(t, (struct clicks){FROM * CLOCK_SECOND, 4, 3,
					  "redirected", "human", 2, 1});
	clicks_sql_rows(&sql, &q, &one, &link, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
			    "total\t0\t\t\t10\t10\t5\t0\t3\t2\n");
	/* Clicks without a link do not belong to ann. */
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
			    "total\t0\t\t\t11\t11\t1\t2\t3\t3\n");
	bob.owners = "bob";
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &bob),
			    "total\t0\t\t\t11\t11\t4\t0\t7\t5\n");
	bob.owners = "ann\\nbob";
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &bob),
			    "total\t0\t\t\t22\t22\t5\t2\t7\t5\n");
	/* All owners of an account. */
	bob.owners = "";
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &bob),
			    "total\t0\t\t\t22\t22\t5\t2\t7\t5\n");
	bob.accounts = "acm\\nshop";
	clicks_sql_rows(&sql, &q, &one, &owners, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &bob),
			    "total\t0\t\t\t4\t4\t0\t0\t2\t1\n");
}

static void groups_are_those_that_have_most(void **state)
{
	struct settled *t = *state;
	const struct clicks_scope scope = {0};
	struct lists two = no_days;

	insert_all(t);
	two.limit = 2;
	for (int bots = 0; bots < 3; bots++) {
		static const char *const expected[] = {
			[BOTS_EXCLUDE] = "group\t0\tann\t\t12\t11\t1\t2\t3\t3\n"
					 "group\t0\tbob\t\t11\t11\t4\t0\t7\t5\n"
					 "total\t0\t\t\t23\t22\t5\t2\t7\t5\n",
			[BOTS_INCLUDE] =
				"group\t0\tann\t\t12\t11\t1\t2\t5\t5\n"
				"group\t0\tbob\t\t11\t11\t4\t0\t11\t6\n"
				"total\t0\t\t\t23\t22\t5\t2\t12\t7\n",
			[BOTS_ONLY] = "group\t0\tann\t\t12\t11\t1\t2\t2\t2\n"
				      "group\t0\tbob\t\t11\t11\t4\t0\t4\t1\n"
				      "total\t0\t\t\t23\t22\t5\t2\t5\t2\n",
		};
		struct question q = question_of((enum bots_mode)bots);
		struct buf sql = {0};

		q.group_by[q.group_by_count++] = dimension_find("owner");
		clicks_sql_rows(&sql, &q, &one, &scope, true);
		assert_string_equal(ask_sorted(t, &q, &sql, &two),
				    expected[bots]);
	}
	/* With a limit of one: link 2 has the most clicks by people, link 1 by
	 * robots. */
	two.limit = 1;
	for (int bots = 0; bots < 3; bots += 2) {
		struct question q = question_of((enum bots_mode)bots);
		struct buf sql = {0};

		q.group_by[q.group_by_count++] = dimension_find("link");
		clicks_sql_rows(&sql, &q, &two_hours, &scope, true);
		assert_non_null(strstr(ask_sorted(t, &q, &sql, &two),
				       bots == BOTS_ONLY ? "group\t0\t1\t"
							 : "group\t0\t2\t"));
	}
}

/* A click counts for each of its tags. */
static void tags_are_those_that_have_most(void **state)
{
	struct settled *t = *state;
	const struct clicks_scope scope = {0};
	struct question q = question_of(BOTS_INCLUDE);
	struct lists lists = no_days;
	struct buf sql = {0};

	insert_all(t);
	copy_bobs(t, "tags", "['x', 'y']");
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (['y'] AS tags, offset + "
		"20000 AS offset, generateUUIDv4() AS event_id) FROM (SELECT * "
		"FROM clicks WHERE owner = 'ann' AND link_id = 1)");
	q.group_by[q.group_by_count++] = dimension_find("tag");
	clicks_sql_rows(&sql, &q, &one, &scope, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t0\tx\t\t11\t11\t4\t0\t11\t6\n"
			    "group\t0\ty\t\t17\t17\t5\t0\t11\t6\n"
			    "total\t0\t\t\t40\t39\t10\t2\t12\t7\n");
	lists.limit = 1;
	clicks_sql_rows(&sql, &q, &one, &scope, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t0\ty\t\t17\t17\t5\t0\t11\t6\n"
			    "total\t0\t\t\t40\t39\t10\t2\t12\t7\n");
}

/* The index is in place of a bucket; each dimension has a limit of its own. */
static void breakdowns_have_the_groups_of_each_dimension(void **state)
{
	struct settled *t = *state;
	const struct clicks_scope scope = {0};
	struct question q = question_of(BOTS_EXCLUDE);
	struct lists lists = no_days;
	struct buf sql = {0};
	char expected[400];

	insert_all(t);
	copy_bobs(t, "tags", "['x', 'y']");
	q.breakdowns[0] = dimension_find("owner");
	q.breakdowns[1] = dimension_find("tag");
	q.breakdowns[3] = dimension_find("link");
	q.breakdown_count = 4;
	lists.limit = 2;
	clicks_sql_rows(&sql, &q, &two_hours, &scope, true);
	snprintf(expected, sizeof(expected),
		 "bucket\t%" PRId64 "\t\t\t30\t29\t8\t2\t7\t5\n"
		 "bucket\t%" PRId64 "\t\t\t4\t4\t1\t0\t3\t3\n"
		 "group\t0\tann\t\t12\t11\t1\t2\t3\t3\n"
		 "group\t0\tbob\t\t22\t22\t8\t0\t7\t5\n"
		 "group\t1\tx\t\t11\t11\t4\t0\t7\t5\n"
		 "group\t1\ty\t\t11\t11\t4\t0\t7\t5\n"
		 "group\t3\t1\t\t14\t14\t9\t0\t3\t2\n"
		 "group\t3\t2\t\t19\t19\t0\t2\t7\t5\n"
		 "total\t0\t\t\t34\t33\t9\t2\t7\t5\n",
		 FROM, FROM + HOUR);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), expected);
	/* Alone, tags are read apart as well. */
	q.breakdowns[0] = q.breakdowns[3] = NULL;
	lists.limit = 1;
	clicks_sql_rows(&sql, &q, &one, &scope, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t1\tx\t\t11\t11\t4\t0\t7\t5\n"
			    "total\t0\t\t\t34\t33\t9\t2\t7\t5\n");
}

static void an_event_that_was_sent_twice_is_counted_once(void **state)
{
	struct settled *t = *state;
	struct question q = question_of(BOTS_EXCLUDE);
	const struct clicks_scope link = {.link = true};
	struct buf sql = {0};

	insert_all(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (offset + 1000 AS offset, "
		"true AS maybe_sent, append_time + 1 AS append_time) "
		"FROM (SELECT * FROM clicks WHERE offset IN (100, 105, 120))");
	q.marked = true;
	for (int i = 0; i < 2; i++) {
		clicks_sql_rows(&sql, &q, &one, &link, true);
		assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
				    "total\t0\t\t\t10\t10\t5\t0\t3\t2\n");
	}
	/* Events that are not marked are counted one by one, even if their ids
	 * are equal. */
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks SELECT * REPLACE (offset + 2000 AS offset) "
		"FROM (SELECT * FROM clicks WHERE offset = 101)");
	clicks_sql_rows(&sql, &q, &one, &link, true);
	assert_string_equal(ask_sorted(t, &q, &sql, &no_days),
			    "total\t0\t\t\t11\t11\t5\t0\t3\t2\n");
	/* The statement fails if it finds a repeat that is not marked. */
	q.marked = false;
	clicks_sql_rows(&sql, &q, &one, &link, true);
	{
		const struct clickhouse_param params[] = {
			{"param_from", "0"},
			{"param_to", "4000000000"},
			{"param_link_id", "1"},
			{"param_any_account", "true"},
			{"param_caller_account", ""},
			{"param_every_owner", "true"},
			{"param_caller_owners", ""},
			{NULL, NULL}};
		struct error err = {0};
		struct buf out = {0};

		assert_int_equal(clickhouse_query(t->s.ch, buf_cstr(&sql),
						  params, &out, &err),
				 -1);
		assert_true(clicks_sql_met_marked(t->s.ch));
		buf_free(&out);
	}
	buf_free(&sql);
}

/* --- copied days ------------------------------------------------------------
 */

static void a_link_has_sealed_days_and_rows(void **state)
{
	struct settled *t = *state;
	static const char *const expected[] = {
		[BOTS_EXCLUDE] = "total\t0\t\t\t362\t343\t32\t4\t93\t83\n",
		[BOTS_INCLUDE] = "total\t0\t\t\t362\t343\t32\t4\t99\t87\n",
		[BOTS_ONLY] = "total\t0\t\t\t362\t343\t32\t4\t6\t4\n",
	};
	char days[32];
	struct lists lists = copied_lists(days);
	struct buckets buckets = {(int64_t[]){START}, 1};

	insert_three_days(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO sealed_slots (link_id, slot, attempt, events, "
		"clicks, bots, prefetches, people, others, people_ips, "
		"others_ips) VALUES "
		"(1, %" PRId64
		", 7, 40, 21, 15, 4, [1, 2, 3], [4, 5], [1, 2, 3], [6, 7]), "
		"(1, %" PRId64 ", 8, 999, 999, 999, 999, [9], [9], [9], [9]), "
		"(2, %" PRId64 ", 7, 999, 999, 999, 999, [9], [9], [9], [9]), "
		"(1, %" PRId64 ", 7, 999, 999, 999, 999, [9], [9], [9], [9])",
		START + 2 * DAY - 900, START + DAY, START + DAY, START);
	for (int bots = 0; bots < 3; bots++) {
		struct question q = three_days((enum bots_mode)bots);
		struct buf sql = {0};

		clicks_sql_sealed(&sql, &q, &buckets, &copied, NULL, true);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists),
				    expected[bots]);
		clicks_sql_sealed_size(&sql, &q, &copied);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists), "362\n");
	}
	/* The answer has every column of the link, with its first and last slot
	 * and row. */
	{
		struct question q = three_days(BOTS_EXCLUDE);
		struct buf sql = {0};
		char life[160];

		clicks_sql_life(&sql, &q, &copied);
		snprintf(life, sizeof(life),
			 "362\t343\t32\t4\t93\t83\t%" PRId64 "\t%" PRId64
			 "\t%" PRId64 "\t%" PRId64 "\n",
			 (START + HOUR - 900) * CLOCK_SECOND,
			 (START + 3 * DAY - 900) * CLOCK_SECOND,
			 FROM * CLOCK_SECOND - 1,
			 (START + 3 * DAY) * CLOCK_SECOND - 1);
		assert_string_equal(ask_sorted(t, &q, &sql, &lists), life);
	}
}

/* Inserts clicks of link 1 that one holder had. */
static void insert_held(struct settled *t, const char *account,
			const char *owner, unsigned count)
{
	static const int64_t at = (START + 2 * DAY) * CLOCK_SECOND;

	t->account = account;
	t->owner = owner;
	settled_insert(t,
		       (struct clicks){at, count, 1,
				       *account == 1 ? "expired" : "redirected",
				       "human", 1, 1});
}

static void a_link_that_changed_hands_keeps_each_holders_clicks(void **state)
{
	static const struct {
		const char *account, *owner;
		unsigned events, clicks;
	} rows[] = {
		{NULL, NULL, 111119, 111111},
		{"acme", NULL, 11019, 11011},
		{"acme", "ann", 1009, 1001},
		{"acme", "bob", 10018, 10010},
		{"acme", "ann\\nbob", 11019, 11011},
		{"acme", "cat", 8, 0},
		{"shop", NULL, 100108, 100100},
		{"shop", "bob", 8, 0},
		{"nobody", NULL, 8, 0},
	};
	struct settled *t = *state;
	struct question q = three_days(BOTS_INCLUDE);
	struct buckets buckets = {(int64_t[]){START}, 1};
	char days[32], expected[64], *end;
	struct lists lists = copied_lists(days);
	struct buf sql = {0};

	insert_held(t, "acme", "ann", 1);
	insert_held(t, "acme", "bob", 10);
	insert_held(t, "shop", "ann", 100);
	insert_held(t, "\x01unknown", "\x01unknown", 3);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO sealed_slots (link_id, account, owner, slot, "
		"attempt, events, clicks) VALUES "
		"(1, 'acme', 'ann', %" PRId64 ", 7, 1000, 1000), "
		"(1, 'acme', 'bob', %" PRId64 ", 7, 10000, 10000), "
		"(1, 'shop', 'ann', %" PRId64 ", 7, 100000, 100000), "
		"(1, '\\x01unknown', '\\x01unknown', %" PRId64 ", 7, 5, 0)",
		START + DAY, START + DAY, START + DAY, START + DAY);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		lists.account = rows[i].account;
		lists.owner = rows[i].owner;
		clicks_sql_sealed(&sql, &q, &buckets, &copied, NULL, true);
		snprintf(expected, sizeof(expected), "total\t0\t\t\t%u\t%u\t",
			 rows[i].events, rows[i].clicks);
		if (strncmp(ask_sorted(t, &q, &sql, &lists), expected,
			    strlen(expected)) != 0)
			fail_msg("row %zu", i);
		clicks_sql_sealed_size(&sql, &q, &copied);
		assert_int_equal(
			strtoul(ask_sorted(t, &q, &sql, &lists), &end, 10),
			rows[i].events);
		clicks_sql_life(&sql, &q, &copied);
		assert_int_equal(
			strtoul(ask_sorted(t, &q, &sql, &lists), &end, 10),
			rows[i].events);
	}
}

static void owners_have_copied_days_and_rows(void **state)
{
	struct settled *t = *state;
	struct question q = three_days(BOTS_EXCLUDE);
	struct buckets buckets = {(int64_t[]){START}, 1};
	char days[32];
	struct lists lists = copied_lists(days);
	struct buf sql = {0};

	insert_three_days(t);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO owner_slots (account, owner, slot, attempt, "
		"events, "
		"clicks, bots, prefetches, people, others, people_ips, "
		"others_ips) VALUES "
		"('acme', 'ann', %" PRId64
		", 7, 40, 21, 15, 4, [1, 2, 3], [4, 5], [1, 2, 3], [6, 7]), "
		"('acme', 'ann', %" PRId64
		", 8, 999, 9, 9, 9, [9], [9], [9], [9]), "
		"('acme', 'bob', %" PRId64
		", 7, 999, 9, 9, 9, [9], [9], [9], [9]), "
		"('shop', 'ann', %" PRId64
		", 7, 999, 9, 9, 9, [9], [9], [9], [9]), "
		"('acme', 'ann', %" PRId64
		", 7, 999, 9, 9, 9, [9], [9], [9], [9])",
		START + 2 * DAY - 900, START + DAY, START + DAY, START + DAY,
		START);
	owner_sql_clicks(&sql, &q, &buckets, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "total\t0\t\t\t363\t344\t28\t6\t93\t83\n");
	clickhouse_server_do(
		&t->server,
		"INSERT INTO owner_values (account, owner, dimension, day, "
		"attempt, "
		"value, rest, events, clicks, bots, prefetches) VALUES "
		"('acme', 'ann', 'link', '2026-10-25', 7, '1', false, 30, 20, "
		"5, 3), "
		"('acme', 'ann', 'link', '2026-10-25', 7, '', true, 10, 8, 2, "
		"1), "
		"('acme', 'ann', 'owner', '2026-10-25', 7, '', true, 99, 9, 9, "
		"9), "
		"('acme', 'ann', 'link', '2026-10-25', 8, '1', false, 99, 9, "
		"9, 9), "
		"('shop', 'ann', 'link', '2026-10-25', 7, '1', false, 99, 9, "
		"9, 9), "
		"('acme', 'bob', 'link', '2026-10-25', 7, '1', false, 99, 9, "
		"9, 9), "
		"('acme', 'ann', 'link', '2026-10-26', 7, '1', false, 99, 9, "
		"9, 9)");
	q.group_by[q.group_by_count++] = dimension_find("link");
	owner_sql_clicks(&sql, &q, &buckets, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t0\t1\t\t348\t338\t18\t3\t\\N\t\\N\n"
			    "group\t0\t2\t\t5\t5\t0\t2\t\\N\t\\N\n"
			    "left_out\t0\t\t\t10\t8\t2\t1\t\\N\t\\N\n"
			    "total\t0\t\t\t363\t344\t28\t6\t93\t83\n");
	/* Each dimension has its limit, and what was left out. */
	q.group_by_count = 0;
	q.breakdowns[1] = dimension_find("tag");
	q.breakdowns[2] = dimension_find("link");
	q.breakdowns[3] = dimension_find("owner");
	q.breakdown_count = 4;
	lists.limit = 1;
	owner_sql_clicks(&sql, &q, &buckets, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "group\t2\t1\t\t348\t338\t18\t3\t\\N\t\\N\n"
			    "group\t3\tann\t\t323\t323\t13\t2\t\\N\t\\N\n"
			    "left_out\t2\t\t\t10\t8\t2\t1\t\\N\t\\N\n"
			    "left_out\t3\t\t\t99\t9\t9\t9\t\\N\t\\N\n"
			    "total\t0\t\t\t363\t344\t28\t6\t93\t83\n");
	lists.limit = 0;
	lists.start = START + DAY;
	owner_sql_links(&sql, &q, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "1\t0\t312\t312\t7\t0\n1\t1\t36\t26\t11\t3\n"
			    "2\t0\t5\t5\t0\t2\n");
	/* The clicks in the first moment of the current range belong to it. */
	lists.start = FROM;
	owner_sql_links(&sql, &q, &copied);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists),
			    "1\t0\t100\t100\t0\t0\n"
			    "1\t1\t248\t238\t18\t3\n2\t1\t5\t5\t0\t2\n");
	owner_sql_links_left_out(&sql);
	assert_string_equal(ask_sorted(t, &q, &sql, &lists), "10\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(
			rows_are_counted_from_the_first_moment_to_before_the_last),
		SETTLED_TEST(each_bucket_has_its_rows),
		SETTLED_TEST(a_scope_has_its_link_or_its_owners),
		SETTLED_TEST(groups_are_those_that_have_most),
		SETTLED_TEST(tags_are_those_that_have_most),
		SETTLED_TEST(breakdowns_have_the_groups_of_each_dimension),
		SETTLED_TEST(an_event_that_was_sent_twice_is_counted_once),
		SETTLED_TEST(a_link_has_sealed_days_and_rows),
		SETTLED_TEST(
			a_link_that_changed_hands_keeps_each_holders_clicks),
		SETTLED_TEST(owners_have_copied_days_and_rows),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
