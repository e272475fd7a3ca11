/* Links with a maximum number of visits. */
#include "tests/unit/linkstore/fixture.h"

#include "codespace/link_id.h"
#include "linkstore/block/renew.h"
#include "linkstore/link/edit.h"
#include "linkstore/link/visit_count.h"
#include "linkstore/standalone.h"
#include "linkstore/target.h"

#define ID link_id_blockless(7)

static struct link_target store_alias(struct fixture *f, uint64_t link_id)
{
	Shortloop__Link link = empty_link();
	struct standalone_result result;
	struct link_target t;

	must(f, linkstore_alias(f->store, "sale-26", 7, &t, &f->err));
	standalone_prepare(f->day, link_id, &link);
	must(f, await_standalone(f->await, &t, &link, 0, &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_CREATED);
	return t;
}

/* Returns the number of used visits; negative if the visit was refused. */
static int count_visit(struct fixture *f, const struct link_target *t,
		       uint64_t link_id, uint64_t max)
{
	enum visit_count result;
	uint64_t used;

	must(f, await_count_visit(f->await, t, link_id, max, &result, &used,
				  &f->err));
	return result == VISIT_COUNTED ? (int)used : -(int)used;
}

static enum visit_count count_fetch(struct fixture *f,
				    const struct link_target *t, uint64_t max,
				    uint64_t max_fetches)
{
	enum visit_count result;

	must(f, await_count_fetch(f->await, t, ID, max, max_fetches, &result,
				  &f->err));
	return result;
}

/* Returns whether the counts are these. */
static bool has_counts(struct fixture *f, const struct link_target *t,
		       uint64_t link_id, const char *visits,
		       const char *fetches)
{
	char words[128];
	redisReply *reply;
	bool same;

	snprintf(words, sizeof(words), "HMGET v:{%s}:%llu visits fetches",
		 t->code, (unsigned long long)link_id);
	reply = redis_server_ask(&f->server, words);
	same = reply && reply->elements == 2;
	for (size_t i = 0; same && i < 2; i++) {
		const char *is = reply->element[i]->str;
		const char *want = i ? fetches : visits;

		same = !strcmp(is ? is : "", want);
	}
	freeReplyObject(reply);
	return same;
}

static bool has_used_visits(struct fixture *f, const struct link_target *t,
			    uint64_t link_id, const char *visits)
{
	return has_counts(f, t, link_id, visits, "");
}

static uint64_t id_at(struct fixture *f, const struct link_target *t)
{
	struct link_answer answer;
	uint64_t link_id;

	must(f, await_lookup(f->await, t, &answer, &f->err));
	link_id = answer.link->link_id;
	await_release(&answer.link);
	return link_id;
}

static void the_first_so_many_visits_are_allowed(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, ID);

	assert_true(has_used_visits(f, &t, ID, ""));
	for (int i = 1; i <= 3; i++)
		assert_int_equal(count_visit(f, &t, ID, 3), i);
	assert_int_equal(count_visit(f, &t, ID, 3), -3);
	assert_int_equal(count_visit(f, &t, ID, 3), -3);
	assert_true(has_used_visits(f, &t, ID, "3"));
	/* An edit allows more visits. */
	assert_int_equal(count_visit(f, &t, ID, 4), 4);
}

/* A link that may be visited once, and previews that would use up the visit. */
static void fetches_use_no_visit_and_are_bounded_themselves(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, ID);

	assert_int_equal(count_fetch(f, &t, 1, 2), VISIT_COUNTED);
	assert_int_equal(count_fetch(f, &t, 1, 2), VISIT_COUNTED);
	assert_int_equal(count_fetch(f, &t, 1, 2), FETCH_NONE_LEFT);
	assert_true(has_counts(f, &t, ID, "", "2"));
	assert_int_equal(count_visit(f, &t, ID, 1), 1);
	assert_int_equal(count_visit(f, &t, ID, 1), -1);
	/* This holds even where more fetches are allowed: there is nothing to
	 * see. */
	assert_int_equal(count_fetch(f, &t, 1, 100), VISIT_NONE_LEFT);
	assert_true(has_counts(f, &t, ID, "1", "2"));
	assert_int_equal(count_fetch(f, &t, 2, 0), FETCH_NONE_LEFT);
}

static void links_in_blocks_are_counted_in_their_slot(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	char words[128];

	assert_int_equal(count_visit(f, &t, id_at(f, &t), 2), 1);
	snprintf(words, sizeof(words), "HGET v:{s5:0}:%llu visits",
		 (unsigned long long)id_at(f, &t));
	assert_int_equal(redis_server_number(&f->server, words), 1);
}

static long long count_left(struct fixture *f, const char *code)
{
	char words[128];

	snprintf(words, sizeof(words), "PTTL v:{%s}:%llu", code,
		 (unsigned long long)ID);
	return redis_server_number(&f->server, words);
}

static void the_count_lives_as_long_as_the_link(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, ID);
	struct link_answer read;
	Shortloop__Link after;
	int64_t left;

	redis_server_number(&f->server, "PEXPIRE l:{sale-26} 60000");
	count_visit(f, &t, ID, 3);
	assert_in_range(count_left(f, t.code), 55000, 60000);
	must(f, await_lookup(f->await, &t, &read, &f->err));
	must(f, await_renew(f->await, &t, read.link, &left, &f->err));
	assert_in_range(count_left(f, t.code), CLOCK_DAY - 5000, CLOCK_DAY);
	after = *read.link;
	link_edit_prepare(read.link, f->never, &after);
	must(f, await_edit(f->await, &t, read.link, &after, f->never, &left,
			   &f->err));
	assert_int_equal(count_left(f, t.code), -1);
	await_release(&read.link);
}

static void delete_link(struct fixture *f, const struct link_target *t)
{
	struct link_answer read;
	Shortloop__Link after;
	int64_t expires;

	must(f, await_lookup(f->await, t, &read, &f->err));
	link_edit_delete(read.link, read.ttl_left, &after);
	must(f, await_edit(f->await, t, read.link, &after, NULL, &expires,
			   &f->err));
	await_release(&read.link);
}

/* This holds for a redirector that has not received the deletion, too. */
static void a_deleted_link_has_no_more_visits(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, ID);
	enum visit_count result;
	uint64_t n;

	f->config.quarantine = CLOCK_DAY;
	count_visit(f, &t, ID, 3);
	delete_link(f, &t);
	must_fail(f,
		  await_count_visit(f->await, &t, ID, 3, &result, &n, &f->err),
		  ERROR_NOTFOUND);
	assert_true(has_used_visits(f, &t, ID, "1"));
}

/* Redirectors of an earlier version count without a check of the link's state:
 * for them, too, a used-up link stays used up. */
static void a_tombstone_keeps_the_count_as_long_as_it_lives(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, ID);

	f->config.quarantine = CLOCK_HOUR;
	count_visit(f, &t, ID, 3);
	delete_link(f, &t);
	assert_true(has_used_visits(f, &t, ID, "1"));
	assert_in_range(count_left(f, t.code), CLOCK_HOUR - 50000, CLOCK_HOUR);
	assert_in_range(read_link_pttl(f, &t), CLOCK_HOUR - 50000, CLOCK_HOUR);
}

static void a_link_that_was_never_visited_leaves_no_count(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, ID);

	delete_link(f, &t);
	assert_int_equal(count_left(f, t.code), -2);
}

/* The state follows the URL in the record. */
static void visits_of_long_urls_are_counted(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, ID);
	struct link_answer read;
	Shortloop__Link after;
	char url[3000];
	int64_t expires;

	memset(url, '@', sizeof(url) - 1); /* '@' is the tag of the state */
	url[sizeof(url) - 1] = '\0';
	must(f, await_lookup(f->await, &t, &read, &f->err));
	after = *read.link;
	link_edit_prepare(read.link, NULL, &after);
	after.url = url;
	must(f, await_edit(f->await, &t, read.link, &after, NULL, &expires,
			   &f->err));
	assert_int_equal(count_visit(f, &t, ID, 3), 1);
	await_release(&read.link);
}

static void another_owners_visits_are_not_counted(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, link_id_blockless(8));
	enum visit_count result;
	uint64_t n;

	must_fail(f,
		  await_count_visit(f->await, &t, ID, 3, &result, &n, &f->err),
		  ERROR_NOTFOUND);
	redis_server_number(&f->server, "DEL l:{sale-26}");
	must_fail(f,
		  await_count_visit(f->await, &t, link_id_blockless(8), 3,
				    &result, &n, &f->err),
		  ERROR_NOTFOUND);
	assert_true(has_used_visits(f, &t, ID, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ALL(the_first_so_many_visits_are_allowed),
		TEST_ALL(fetches_use_no_visit_and_are_bounded_themselves),
		TEST(links_in_blocks_are_counted_in_their_slot),
		TEST_ALL(the_count_lives_as_long_as_the_link),
		TEST_ALL(a_deleted_link_has_no_more_visits),
		TEST_ALL(a_tombstone_keeps_the_count_as_long_as_it_lives),
		TEST_ALL(a_link_that_was_never_visited_leaves_no_count),
		TEST_ALL(visits_of_long_urls_are_counted),
		TEST_ALL(another_owners_visits_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
