/* Promises 3, 4 and 5: opening, closing and filling one block. */
#include "linkstore/target.h"
#include "tests/unit/linkstore/fixture.h"

/* --- open ----------------------------------------------------------------- */

static void opening_writes_who_holds_the_block_and_its_end(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_marker m = read_marker(f, 0);

	assert_true(m.open);
	assert_int_equal(m.generation, 1);
	assert_string_equal(m.class_name, "1d");
	assert_string_equal(m.holder, block.holder);
	assert_int_equal(m.end, m.opened + HOLD + CLOCK_DAY);
	assert_int_equal(redis_server_number(&f->server, "PTTL m:{s5:0}"), -1);
}

static void a_block_that_never_ends_says_so(void **state)
{
	struct fixture *f = *state;

	open_block(f, f->never);
	assert_true(read_marker(f, 0).end == DURATION_NEVER);
}

static void opening_again_with_the_same_holder_is_a_success(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	int64_t end;

	must(f, await_open(f->await, &block, &end, &f->err));
	assert_int_equal(end, read_marker(f, 0).end);
}

static void a_block_granted_twice_is_opened_once(void **state)
{
	struct fixture *f = *state;
	struct link_block block;
	struct grant g;
	int64_t end;

	open_block(f, f->day);
	/* The grant is lost, the marker is not. */
	redis_server_text(&f->server, "SET cursor:{s5} 0", (char[512]){0});
	g = make_grant(f, f->day, 1);
	block = block_of(f, &g, f->day);
	assert_int_equal(block.number, 0);
	must_fail(f, await_open(f->await, &block, &end, &f->err),
		  ERROR_NOT_OWNER);
	assert_false(f->err.retriable);
}

static void an_open_block_is_not_opened_by_a_later_generation(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	int64_t end;

	block.generation = 2;
	must_fail(f, await_open(f->await, &block, &end, &f->err),
		  ERROR_NOT_OWNER);
}

static void a_closed_block_is_opened_by_a_later_generation_only(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	int64_t end;

	set_marker(f, "4 c 1d 1000 2000 someone");
	block.generation = 4;
	must_fail(f, await_open(f->await, &block, &end, &f->err),
		  ERROR_NOT_OWNER);
	block.generation = 5;
	must(f, await_open(f->await, &block, &end, &f->err));
	assert_int_equal(read_marker(f, 0).generation, 5);
}

static void a_damaged_marker_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	int64_t end;

	set_marker(f, "rubbish");
	must_fail(f, await_open(f->await, &block, &end, &f->err),
		  ERROR_DAMAGED);
}

/* --- close by the holder -------------------------------------------------- */

static void a_holder_closes_its_block(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);

	must(f, await_close_own(f->await, &block, &f->err));
	assert_false(read_marker(f, 0).open);
	must(f, await_close_own(f->await, &block, &f->err));
}

static void another_holder_does_not_close_it(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);

	strcpy(block.holder, "another");
	must_fail(f, await_close_own(f->await, &block, &f->err),
		  ERROR_NOT_OWNER);
	assert_true(read_marker(f, 0).open);
}

static void a_block_closed_unopened_is_not_opened_late(void **state)
{
	struct fixture *f = *state;
	struct grant g = make_grant(f, f->day, 1);
	struct link_block block = block_of(f, &g, f->day);
	int64_t end;

	must(f, await_close_own(f->await, &block, &f->err));
	must_fail(f, await_open(f->await, &block, &end, &f->err),
		  ERROR_NOT_OWNER);
}

/* --- create --------------------------------------------------------------- */

static int create_link(struct fixture *f, const struct link_block *block,
		       uint32_t offset, const char *url, int64_t *ret_expires)
{
	Shortloop__Link link = empty_link();
	struct link_target target;

	link.url = text_of(url);
	linkstore_code(f->space, block->number, offset, &target);
	if (link_prepare(block, offset, &link, &f->err))
		return -1;
	return await_create(f->await, block, target.code, &link, 0, ret_expires,
			    &f->err);
}

static void past_its_deadline_a_link_is_not_stored(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	Shortloop__Link link = empty_link();
	struct link_target t;
	int64_t expires;

	linkstore_code(f->space, block.number, 0, &t);
	must(f, link_prepare(&block, 0, &link, &f->err));
	must_fail(f,
		  await_create(f->await, &block, t.code, &link,
			       clock_real_ms() - 50, &expires, &f->err),
		  ERROR_LATE);
	assert_int_equal(read_link_pttl(f, &t), -2);
	must(f, await_create(f->await, &block, t.code, &link,
			     clock_real_ms() + 5000, &expires, &f->err));
	assert_in_range(read_link_pttl(f, &t), CLOCK_DAY - 5000, CLOCK_DAY);
}

static void a_link_is_stored_with_the_life_of_its_class(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	long long left = read_link_pttl(f, &t);

	assert_true(left > CLOCK_DAY - 5000 && left <= CLOCK_DAY);
}

static void a_link_of_class_never_has_no_ttl(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->never);
	int64_t expires;

	must(f, create_link(f, &block, 0, "https://a.example/", &expires));
	assert_true(expires == DURATION_NEVER);
}

static void the_same_link_sent_again_is_a_success(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	int64_t expires, later;
	struct link_target t;
	char words[192];

	linkstore_code(f->space, block.number, 7, &t);
	snprintf(words, sizeof(words), "PEXPIRETIME l:{s5:%d}:%s", (int)t.block,
		 t.code);
	must(f, create_link(f, &block, 7, "https://a.example/", &expires));
	sleep_ms(2);
	must(f, create_link(f, &block, 7, "https://a.example/", &later));
	/* The link lives until the time in the later answer. */
	assert_true(later > expires);
	assert_int_equal(redis_server_number(&f->server, words), later);
	/* A link that has become endless meanwhile, such as a blocked one,
	 * stays endless. */
	snprintf(words, sizeof(words), "PERSIST l:{s5:%d}:%s", (int)t.block,
		 t.code);
	redis_server_number(&f->server, words);
	must(f, create_link(f, &block, 7, "https://a.example/", &later));
	assert_int_equal(read_link_pttl(f, &t), -1);
}

static void a_live_link_is_never_overwritten(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_answer answer;
	int64_t expires;

	/* The block gets another owner while a link lives: this must not
	 * happen, and if it does, NX prevents an overwrite. */
	set_marker(f, "2 o 1d 1000 9999999999999 another");
	block.generation = 2;
	strcpy(block.holder, "another");
	must_fail(f, create_link(f, &block, 0, "https://b.example/", &expires),
		  ERROR_UNSAFE);
	must(f, await_lookup(f->await, &t, &answer, &f->err));
	assert_string_equal(answer.link->url, "https://example.org/");
	await_release(&answer.link);
}

static void nothing_is_created_in_a_block_that_is_not_mine(void **state)
{
	static const char *const markers[] = {
		"1 c 1d 1000 2000 me",
		"2 o 1d 1000 9999999999999 me",
		"1 o 1d 1000 9999999999999 another",
	};
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	int64_t expires;

	strcpy(block.holder, "me");
	for (int i = 0; i < 3; i++) {
		set_marker(f, markers[i]);
		must_fail(f,
			  create_link(f, &block, 0, "https://a.example/",
				      &expires),
			  ERROR_NOT_OWNER);
	}
	redis_server_number(&f->server, "DEL m:{s5:0}");
	must_fail(f, create_link(f, &block, 0, "https://a.example/", &expires),
		  ERROR_NOT_OWNER);
}

static void a_late_link_lifts_the_end_of_its_block(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	int64_t expires, before = read_marker(f, 0).end;

	sleep_ms(HOLD + 50);
	must(f, create_link(f, &block, 0, "https://a.example/", &expires));
	assert_true(expires > before);
	assert_int_equal(read_marker(f, 0).end, expires);
}

static void an_early_link_does_not_lower_the_end(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	int64_t end = read_marker(f, 0).end;

	store_link(f, &block, 0);
	assert_int_equal(read_marker(f, 0).end, end);
}

static void an_offset_outside_the_block_is_refused(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	Shortloop__Link link = empty_link();

	must_fail(f, link_prepare(&block, 1000, &link, &f->err), ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opening_writes_who_holds_the_block_and_its_end),
		TEST(a_block_that_never_ends_says_so),
		TEST(opening_again_with_the_same_holder_is_a_success),
		TEST(a_block_granted_twice_is_opened_once),
		TEST(an_open_block_is_not_opened_by_a_later_generation),
		TEST(a_closed_block_is_opened_by_a_later_generation_only),
		TEST(a_damaged_marker_is_an_error),
		TEST(a_holder_closes_its_block),
		TEST(another_holder_does_not_close_it),
		TEST(a_block_closed_unopened_is_not_opened_late),
		TEST(past_its_deadline_a_link_is_not_stored),
		TEST(a_link_is_stored_with_the_life_of_its_class),
		TEST(a_link_of_class_never_has_no_ttl),
		TEST(the_same_link_sent_again_is_a_success),
		TEST(a_live_link_is_never_overwritten),
		TEST(nothing_is_created_in_a_block_that_is_not_mine),
		TEST(a_late_link_lifts_the_end_of_its_block),
		TEST(an_early_link_does_not_lower_the_end),
		TEST(an_offset_outside_the_block_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
