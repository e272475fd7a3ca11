/* The markers that can share a command. */
#include "tests/unit/linkstore/fixture.h"

#include "linkstore/block/block_scan.h"
#include "linkstore/block/groups.h"

enum {
	BLOCKS = 5000
};

static void fill_blocks(uint64_t blocks[BLOCKS])
{
	for (uint64_t i = 0; i < BLOCKS; i++)
		blocks[i] = 7 * i + 3;
}

/* Goes through all groups and checks that every place comes up once. */
static size_t walk_groups(const struct fixture *f, bool by_slot)
{
	static uint64_t blocks[BLOCKS];
	static bool seen[BLOCKS];
	struct block_groups *groups;
	struct block_group group;
	size_t count = 0, last_slot = 0;
	struct error err;

	fill_blocks(blocks);
	memset(seen, 0, sizeof(seen));
	groups = block_groups_new(f->space, blocks, BLOCKS, by_slot, &err);
	assert_non_null(groups);
	for (; block_groups_next(groups, &group); count++) {
		assert_in_range(group.count, 1, GROUP_MAX);
		assert_true(group.slot >= last_slot);
		last_slot = group.slot;
		for (size_t i = 0; i < group.count; i++) {
			assert_false(seen[group.at[i]]);
			seen[group.at[i]] = true;
			if (by_slot)
				assert_int_equal(
					block_slot(f->space,
						   blocks[group.at[i]]),
					group.slot);
		}
	}
	for (size_t i = 0; i < BLOCKS; i++)
		assert_true(seen[i]);
	block_groups_free(groups);
	return count;
}

static void without_a_cluster_neighbours_in_the_list_go_together(void **state)
{
	assert_int_equal(walk_groups(*state, false),
			 (BLOCKS + GROUP_MAX - 1) / GROUP_MAX);
}

static void on_a_cluster_a_group_lies_in_one_slot(void **state)
{
	assert_true(walk_groups(*state, true) > BLOCKS / GROUP_MAX);
}

static void a_slot_with_many_blocks_has_several_groups(void **state)
{
	static uint64_t blocks[GROUP_MAX * 2 + 1]; /* all of block 0 */
	struct fixture *f = *state;
	struct block_group group;
	struct error err;
	struct block_groups *groups = block_groups_new(
		f->space, blocks, sizeof(blocks) / sizeof(blocks[0]), true,
		&err);
	size_t sizes[3];

	for (size_t i = 0; i < 3; i++) {
		assert_true(block_groups_next(groups, &group));
		sizes[i] = group.count;
	}
	assert_int_equal(sizes[0], GROUP_MAX);
	assert_int_equal(sizes[2], 1);
	assert_false(block_groups_next(groups, &group));
	block_groups_free(groups);
}

static void no_blocks_are_no_groups(void **state)
{
	struct fixture *f = *state;
	struct block_group group;
	struct error err;
	struct block_groups *groups =
		block_groups_new(f->space, NULL, 0, true, &err);

	assert_false(block_groups_next(groups, &group));
	block_groups_free(groups);
}

static void the_slot_is_that_of_everything_in_the_block(void **state)
{
	struct fixture *f = *state;

	/* the reply of a Redis 7 to CLUSTER KEYSLOT m:{s5:42} */
	assert_int_equal(
		redis_server_number(&f->server, "CLUSTER KEYSLOT m:{s5:42}"),
		block_slot(f->space, 42));
}

/* --- on a real cluster ---------------------------------------------------- */

static void open_many(struct fixture *f, size_t count)
{
	struct grant g = make_grant(f, f->brief, (unsigned)count);
	struct link_block block = block_of(f, &g, f->brief);
	int64_t end;

	for (size_t i = 0; i < count; i++, block.number++)
		must(f, await_open(f->await, &block, &end, &f->err));
}

static void markers_in_many_slots_are_read_and_closed(void **state)
{
	enum {
		COUNT = 256
	};
	struct fixture *f = *state;
	struct block_scan looks[COUNT];
	uint64_t blocks[COUNT];

	for (uint64_t i = 0; i < COUNT; i++)
		blocks[i] = i;
	open_many(f, COUNT);
	sleep_ms(1000 + HOLD + 20);
	must(f, block_scan_read(f->server.redis, f->space, blocks, COUNT,
				clock_real_ms(), looks, &f->err));
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(looks[i].state, BLOCK_ENDED);
	memset(looks, 0, sizeof(looks));
	must(f, block_scan_close(f->server.redis, f->space, blocks, COUNT, 1,
				 looks, &f->err));
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(looks[i].state, BLOCK_ENDED);
		assert_int_equal(looks[i].generation, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_cluster_neighbours_in_the_list_go_together),
		TEST(on_a_cluster_a_group_lies_in_one_slot),
		TEST(a_slot_with_many_blocks_has_several_groups),
		TEST(no_blocks_are_no_groups),
		TEST_CLUSTER(the_slot_is_that_of_everything_in_the_block),
		TEST_CLUSTER(markers_in_many_slots_are_read_and_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
