#include "tests/unit/unit.h"

#include <string.h>

#include "common/clock.h"
#include "reclaimer/space/settle_plan.h"

enum {
	RANGES_MAX = 8,
	BLOCKS_MAX = 256,
	ROUNDS = 20000
};

/* Ranges at random places with random histories, and the plan for them. */
struct scene {
	struct scanned_range ranges[RANGES_MAX];
	size_t count;
	struct block_scan looks[BLOCKS_MAX];
	size_t blocks;
	struct settle_part parts[RANGES_MAX + BLOCKS_MAX];
	size_t part_count;
};

/* The ends are from 1000 to 1600, or far away. */
static const struct settle_merge merge = {.now = 600, .apart = 40};

/* xorshift64*, S. Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", 2016. */
static uint64_t next_random(uint64_t *random)
{
	*random ^= *random >> 12;
	*random ^= *random << 25;
	*random ^= *random >> 27;
	return *random * UINT64_C(2685821657736338717);
}

static struct block_scan random_look(uint64_t *random)
{
	struct block_scan look = {0};

	switch (next_random(random) % 6) {
	case 0:
		look.state = BLOCK_LOST;
		break;
	case 1:
	case 2:
		look.state = BLOCK_LIVE;
		look.generation = (uint32_t)(1 + next_random(random) % 3);
		look.end =
			next_random(random) % 4
				? 1000 + (int64_t)(next_random(random) % 7) * 10
				: DURATION_NEVER;
		break;
	default:
		look.state = BLOCK_ENDED;
		look.generation = (uint32_t)(1 + next_random(random) % 3);
	}
	return look;
}

static void make_scene(struct scene *s, uint64_t *random)
{
	uint64_t at = next_random(random) % 100;

	memset(s, 0, sizeof(*s));
	s->count = 1 + next_random(random) % RANGES_MAX;
	for (size_t i = 0; i < s->count; i++) {
		struct scanned_range *r = &s->ranges[i];
		uint64_t size =
			1 + next_random(random) % (BLOCKS_MAX / RANGES_MAX);

		at += next_random(random) % 2 ? 0 : 1 + next_random(random) % 9;
		r->member.first = at;
		r->member.last = at + size - 1;
		r->member.generation = (uint32_t)(1 + next_random(random) % 2);
		r->upto = i + 1 == s->count ? at + next_random(random) % size
					    : r->member.last;
		r->score = 500;
		at += size;
		for (size_t b = 0; b < scanned_blocks(r); b++)
			s->looks[s->blocks++] = random_look(random);
	}
	s->part_count =
		settle_plan(s->ranges, s->count, s->looks, &merge, s->parts);
}

/* Returns the part with this block; there must be exactly one. */
static const struct settle_part *part_with(const struct scene *s,
					   uint64_t block)
{
	const struct settle_part *found = NULL;

	for (size_t i = 0; i < s->part_count; i++) {
		const struct block_range *r = &s->parts[i].range;

		if (block < r->first || block > r->last)
			continue;
		assert_null(found);
		found = &s->parts[i];
	}
	assert_non_null(found);
	return found;
}

static uint64_t blocks_of_members(const struct scene *s)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < s->count; i++)
		blocks += range_blocks(&s->ranges[i].member);
	return blocks;
}

static uint64_t blocks_of_parts(const struct scene *s)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < s->part_count; i++)
		blocks += range_blocks(&s->parts[i].range);
	return blocks;
}

typedef void check_fn(const struct scene *s, const struct scanned_range *range,
		      uint64_t block, const struct block_scan *look);

static void for_each_block(check_fn *check)
{
	uint64_t random = 20261121;
	struct scene s;

	for (int round = 0; round < ROUNDS; round++) {
		const struct block_scan *look = s.looks;

		make_scene(&s, &random);
		for (size_t i = 0; i < s.count; i++) {
			const struct scanned_range *r = &s.ranges[i];

			for (uint64_t b = r->member.first; b <= r->upto; b++)
				check(&s, r, b, look++);
		}
	}
}

static void the_parts_cover_exactly_the_members(void **state)
{
	uint64_t random = 1;
	struct scene s;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		make_scene(&s, &random);
		assert_int_equal(blocks_of_parts(&s), blocks_of_members(&s));
		for (size_t i = 0; i < s.count; i++) {
			const struct block_range *m = &s.ranges[i].member;

			for (uint64_t b = m->first; b <= m->last; b++)
				part_with(&s, b);
		}
	}
}

static void the_parts_ascend_and_fit_the_room(void **state)
{
	uint64_t random = 2;
	struct scene s;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		make_scene(&s, &random);
		assert_true(s.part_count <=
			    settle_plan_room(s.count, s.blocks));
		for (size_t i = 0; i < s.part_count; i++) {
			const struct block_range *r = &s.parts[i].range;

			assert_true(r->first <= r->last);
			if (i)
				assert_true(s.parts[i - 1].range.last <
					    r->first);
		}
	}
}

static void neighbours_that_are_alike_are_one_part(void **state)
{
	uint64_t random = 3;
	struct scene s;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		make_scene(&s, &random);
		for (size_t i = 1; i < s.part_count; i++) {
			const struct settle_part *a = &s.parts[i - 1];
			const struct settle_part *b = &s.parts[i];

			assert_false(
				a->range.last + 1 == b->range.first &&
				a->kind == b->kind && a->score == b->score &&
				a->range.generation == b->range.generation);
		}
	}
}

static void check_ended(const struct scene *s,
			const struct scanned_range *range, uint64_t block,
			const struct block_scan *look)
{
	const struct settle_part *part = part_with(s, block);

	if (look->state != BLOCK_ENDED)
		return;
	assert_int_equal(part->kind, SETTLE_POOL);
	assert_true(part->range.generation > look->generation);
	assert_true(part->range.generation > range->member.generation);
}

static void an_ended_block_is_pooled_under_a_later_generation(void **state)
{
	(void)state;
	for_each_block(check_ended);
}

static void check_live(const struct scene *s, const struct scanned_range *range,
		       uint64_t block, const struct block_scan *look)
{
	const struct settle_part *part = part_with(s, block);

	if (look->state != BLOCK_LIVE)
		return;
	assert_int_equal(part->kind, SETTLE_KEEP);
	assert_int_equal(part->range.generation, range->member.generation);
	if (look->end == DURATION_NEVER)
		assert_int_equal(part->score, DURATION_NEVER);
	else
		assert_in_range(part->score, look->end + 1,
				look->end + 1 + merge.apart);
}

static void a_live_block_is_kept_until_after_its_end_or_soon_after(void **state)
{
	(void)state;
	for_each_block(check_live);
}

static void check_lost(const struct scene *s, const struct scanned_range *range,
		       uint64_t block, const struct block_scan *look)
{
	const struct settle_part *part = part_with(s, block);

	if (look->state != BLOCK_LOST)
		return;
	assert_int_equal(part->kind, SETTLE_LOST);
	assert_int_equal(part->range.generation, range->member.generation);
}

static void a_lost_block_stays_issued(void **state)
{
	(void)state;
	for_each_block(check_lost);
}

static void what_was_not_looked_at_stays_due(void **state)
{
	struct scanned_range cut = {{10, 1000000, 1}, 11, 77};
	struct block_scan ended = {.state = BLOCK_ENDED, .generation = 1};
	struct block_scan looks[] = {ended, ended};
	struct settle_part parts[3];

	(void)state;
	assert_int_equal(settle_plan(&cut, 1, looks, &merge, parts), 2);
	assert_int_equal(parts[1].kind, SETTLE_KEEP);
	assert_int_equal(parts[1].score, 77);
	assert_int_equal(parts[1].range.first, 12);
	assert_int_equal(parts[1].range.last, 1000000);
}

static void a_range_that_ended_as_a_whole_is_one_part(void **state)
{
	struct scanned_range ranges[] = {{{0, 9, 1}, 9, 5},
					 {{10, 19, 1}, 19, 6}};
	struct block_scan looks[20];
	struct settle_part parts[22];

	(void)state;
	for (size_t i = 0; i < 20; i++)
		looks[i] = (struct block_scan){.state = BLOCK_ENDED,
					       .generation = 1};
	assert_int_equal(settle_plan(ranges, 2, looks, &merge, parts), 1);
	assert_int_equal(parts[0].range.generation, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_cover_exactly_the_members),
		cmocka_unit_test(the_parts_ascend_and_fit_the_room),
		cmocka_unit_test(neighbours_that_are_alike_are_one_part),
		cmocka_unit_test(
			an_ended_block_is_pooled_under_a_later_generation),
		cmocka_unit_test(
			a_live_block_is_kept_until_after_its_end_or_soon_after),
		cmocka_unit_test(a_lost_block_stays_issued),
		cmocka_unit_test(what_was_not_looked_at_stays_due),
		cmocka_unit_test(a_range_that_ended_as_a_whole_is_one_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
