/* The warnings of create-space about codes that are easily guessed. */
#include "tests/unit/linkstore/fixture.h"

#include "allocator/space_worth.h"

static int setup_pure(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_configure_all(f);
	f->spaces[1].look_alikes = NULL;
	*state = f;
	return 0;
}

static int teardown_pure(void **state)
{
	struct fixture *f = *state;

	linkstore_free(f->store);
	free(f);
	return 0;
}

static uint64_t hits_of_sequence(struct fixture *f, int64_t length,
				 uint64_t *ret_links)
{
	f->spaces[0].length = length;
	f->spaces[0].block_size = 10;
	fixture_open_store(f);
	return space_guess_hits(f->space, ret_links);
}

static uint64_t hits_of_hash(struct fixture *f, int64_t length,
			     const char *method, uint64_t *ret_links)
{
	f->spaces[1].length = length;
	f->spaces[1].hash_codes = text_of(method);
	fixture_open_store(f);
	return space_guess_hits(f->hash, ret_links);
}

/* Guesses: 62^(length-1) payloads with one of 15 check characters each; of
 * hashes without one 62^length, of md5-quarters never more than 2^32. */
static void a_guess_hits_as_often_as_there_are_links_for_guesses(void **state)
{
	struct fixture *f = *state;
	uint64_t links;

	assert_int_equal(hits_of_sequence(f, 4, &links), 30);
	assert_int_equal(links, 119164);
	assert_int_equal(hits_of_sequence(f, 5, &links), 221);
	assert_int_equal(links, 1000000);
	assert_int_equal(hits_of_sequence(f, 7, &links), 852003);
	assert_int_equal(hits_of_hash(f, 6, "keyed", &links), 13741);
	assert_int_equal(hits_of_hash(f, 6, "md5-quarters", &links), 4294);
	assert_int_equal(hits_of_hash(f, 8, "md5-quarters", &links), 4294);
	assert_int_equal(hits_of_hash(f, 3, "keyed", &links), 2);
}

static void assert_warned(const struct link_space *space, const char *says)
{
	char text[SPACE_WORTH_MAX];

	assert_true(space_worth_warn(space, text));
	if (!strstr(text, says))
		fail_msg("'%s' does not say '%s'", text, says);
}

static void short_codes_are_warned_of(void **state)
{
	struct fixture *f = *state;
	char text[SPACE_WORTH_MAX];
	uint64_t links;

	hits_of_sequence(f, 4, &links);
	assert_warned(f->space, "one guess in 30 hits");
	assert_warned(f->space, "reader of fewer codes than 62");
	hits_of_sequence(f, 5, &links);
	assert_warned(f->space, "one guess in 221 hits");
	assert_warned(f->space, "reader of fewer codes than 3844");
	hits_of_sequence(f, 7, &links);
	assert_false(space_worth_warn(f->space, text));
	hits_of_hash(f, 5, "keyed", &links);
	assert_warned(f->hash, "one guess in 916 hits");
}

static void quarters_are_warned_of_at_any_length(void **state)
{
	struct fixture *f = *state;
	char text[SPACE_WORTH_MAX];
	uint64_t links;

	hits_of_hash(f, 8, "md5-quarters", &links);
	assert_warned(f->hash, "md5-quarters");
	assert_warned(f->hash, "one guess in 4294 hits");
	hits_of_hash(f, 6, "keyed", &links);
	assert_false(space_worth_warn(f->hash, text));
}

static void names_and_snowflakes_are_not_guessed(void **state)
{
	struct fixture *f = *state;
	char text[SPACE_WORTH_MAX];

	fixture_open_store(f);
	assert_false(space_worth_warn(f->alias, text));
	assert_false(space_worth_warn(f->snowflake, text));
}

#define PURE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_pure, teardown_pure)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PURE(a_guess_hits_as_often_as_there_are_links_for_guesses),
		PURE(short_codes_are_warned_of),
		PURE(quarters_are_warned_of_at_any_length),
		PURE(names_and_snowflakes_are_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
