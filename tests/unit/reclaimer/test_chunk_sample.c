/* A sample of a chunk's ended blocks is searched for links. */
#include "tests/unit/reclaimer/scene.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/random.h>

/* The random number that fails, counted from now on; 0: none. */
static int random_refused;
/* Unless 0, every random number is this. */
static uint64_t random_drawn;

/* Replaces libc's function. */
ssize_t getrandom(void *to, size_t len, unsigned flags)
{
	ssize_t (*draw)(void *, size_t, unsigned);
	void *found = dlsym(RTLD_NEXT, "getrandom");

	memcpy(&draw, &found, sizeof(draw));
	if (random_refused && !--random_refused) {
		errno = EIO;
		return -1;
	}
	if (random_drawn && len == sizeof(random_drawn)) {
		memcpy(to, &random_drawn, len);
		return (ssize_t)len;
	}
	return draw(to, len, flags);
}

static int sample_scene(struct fixture *f, struct scene *s,
			struct sampler *sampler)
{
	return chunk_sample(s->chunk, f->server.redis, &s->lock, sampler,
			    &s->tally, &f->err);
}

static void put_link(struct fixture *f, uint64_t block, uint32_t offset)
{
	struct link_target t;
	char words[160];

	linkstore_code(f->space, block, offset, &t);
	snprintf(words, sizeof(words), "SET l:{s5:%llu}:%s x",
		 (unsigned long long)block, t.code);
	freeReplyObject(redis_server_ask(&f->server, words));
}

static void one_block_of_so_many_is_looked_through(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);
	struct sampler all = {.every = 1}, some = {.every = 400},
		       few = {.every = 100000};

	must(f, sample_scene(f, &s, &all));
	assert_int_equal(s.tally.sampled, BLOCKS);
	s.tally.sampled = 0;
	/* At most 798 of the 1000 are skipped. */
	must(f, sample_scene(f, &s, &some));
	assert_in_range(s.tally.sampled, 1, 200);
	/* At least one block is sampled, however few there are. */
	s.tally.sampled = 0;
	must(f, sample_scene(f, &s, &few));
	assert_int_equal(s.tally.sampled, 1);
	assert_true(few.begun);
	s.tally.sampled = 0;
	few.wait = BLOCKS;
	must(f, sample_scene(f, &s, &few));
	assert_int_equal(s.tally.sampled, 0);
	assert_int_equal(few.wait, 0);
	close_scene(&s);
}

/* The sample has number 8, then each 19th: at a sampling of one in ten, at most
 * 18 are skipped at once. */
static void the_first_of_a_sample_lies_among_the_first_blocks(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);
	struct sampler some = {.every = 10};

	random_drawn = 18;
	must(f, sample_scene(f, &s, &some));
	random_drawn = 0;
	assert_int_equal(s.tally.sampled, 53);
	close_scene(&s);
}

static void a_sample_that_cannot_be_drawn_stops_the_run(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);
	struct sampler first = {.every = 1}, second = {.every = 1};

	random_refused = 1;
	must_fail(f, sample_scene(f, &s, &first), ERROR_SYSTEM);
	random_refused = 2;
	must_fail(f, sample_scene(f, &s, &second), ERROR_SYSTEM);
	assert_int_equal(s.tally.sampled, 0);
	close_scene(&s);
}

static void only_what_has_ended_is_looked_through(void **state)
{
	struct sampler all = {.every = 1};
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "10-13:1");
	put_marker(f, 10, "1 o never 1000 never holder");
	put_marker(f, 12, "1 o 1s 1000 2000 holder");
	put_marker(f, 13, "1 o 1s 1000 99999999999999 holder");
	put_link(f, 10, 0);
	put_link(f, 13, 0);
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	must(f, close_blocks(f, &s));
	must(f, sample_scene(f, &s, &all));
	assert_int_equal(s.tally.sampled, 1);
	close_scene(&s);
}

static void a_link_that_lives_in_an_ended_block_stops_the_run(void **state)
{
	struct sampler all = {.every = 1};
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	put_link(f, 6, 999);
	put_link(f, 6, 0);
	assert_int_equal(sample_scene(f, &s, &all), -1);
	assert_int_equal(f->err.code, ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "block 6 "));
	assert_non_null(strstr(f->err.text, "2 of its links"));
	assert_int_equal(s.tally.sampled, 3);
	close_scene(&s);
}

static void nothing_is_looked_through_under_a_lock_that_is_gone(void **state)
{
	struct sampler all = {.every = 1};
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	redis_server_number(&f->server, "DEL lock:{s5}");
	assert_int_equal(sample_scene(f, &s, &all), -1);
	assert_int_equal(f->err.code, ERROR_NOT_OWNER);
	assert_int_equal(s.tally.sampled, 0);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_block_of_so_many_is_looked_through),
		TEST(the_first_of_a_sample_lies_among_the_first_blocks),
		TEST(a_sample_that_cannot_be_drawn_stops_the_run),
		TEST(only_what_has_ended_is_looked_through),
		TEST(a_link_that_lives_in_an_ended_block_stops_the_run),
		TEST(nothing_is_looked_through_under_a_lock_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
