/* fixture.h - a store of one small space, with a Redis of its own. */
#ifndef TESTS_UNIT_LINKSTORE_FIXTURE_H
#define TESTS_UNIT_LINKSTORE_FIXTURE_H

#include "tests/unit/linkstore/await.h"
#include "tests/unit/redis_server.h"

#include "common/clock.h"
#include "linkstore/block/block.h"
#include "linkstore/block/block_scan.h"
#include "linkstore/block/create_links.h"
#include "linkstore/block/lookup.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/grant.h"
#include "linkstore/space/ledger.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/space_record.h"

#define HOLD	   100 /* ms */
#define QUARANTINE 150
#define GAP	   7

/* 62^4 ids in blocks of 1000: 14776 blocks. */
struct fixture {
	struct redis_server server;
	struct await *await;
	char *classes[3];
	struct links_key_config keys[2];
	struct links_space_config space_config;
	struct links_space_config spaces[4]; /* one for each strategy */
	struct links_config config;
	struct linkstore *store;
	const struct link_space *space;
	const struct link_space *hash, *snowflake, *alias;
	const struct link_class *brief, *day, *never;
	struct error err;
};

static inline char *text_of(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* The generated initialiser has a cast that drops const, and clang warns of it.
 */
static inline Shortloop__Link empty_link(void)
{
	Shortloop__Link link;

	shortloop__link__init(&link);
	return link;
}

/* Opens connections with the scripts of the store. */
static inline void fixture_connect(struct fixture *f)
{
	const struct redis_scripts *scripts = linkstore_scripts(f->store);

	redis_server_use_scripts(&f->server, scripts);
	await_free(f->await);
	f->await = await_new(&f->server.config, scripts);
	assert_non_null(f->await);
}

/* Uses the configuration as it is. */
static inline void fixture_open_store(struct fixture *f)
{
	struct linkstore *before = f->store;

	f->store = linkstore_new(&f->config, &f->err);
	if (!f->store)
		fail_msg("%s", f->err.text);
	if (f->server.redis)
		fixture_connect(f);
	linkstore_free(before);
	f->space = linkstore_space_named(f->store, "s5");
	f->hash = linkstore_space_named(f->store, "h6");
	f->snowflake = linkstore_space_named(f->store, "flake");
	f->alias = linkstore_space_named(f->store, "alias");
	f->brief = linkstore_class_named(f->store, "1s");
	f->day = linkstore_class_named(f->store, "1d");
	f->never = linkstore_class_named(f->store, "never");
}

static inline void fixture_configure(struct fixture *f)
{
	f->classes[0] = text_of("1s");
	f->classes[1] = text_of("1d");
	f->classes[2] = text_of("never");
	f->keys[0].key = text_of("a secret of sixteen bytes or more");
	f->keys[1].version = 1;
	f->keys[1].key = text_of("another secret, for the version 1");
	f->space_config = (struct links_space_config){
		.name = text_of("s5"),
		.number = 5,
		.length = 5,
		.strategy = text_of("sequence"),
		.block_size = 1000,
		.keys = {f->keys, 1},
	};
	f->config = (struct links_config){
		.ttl_classes = {f->classes, 3},
		.hold_max = HOLD,
		.quarantine = QUARANTINE,
		.renew_every = 3600 * 1000,
		.grant_blocks = 1,
		.safety_gap = GAP,
		.spaces = {&f->space_config, 1},
	};
}

/* Configures the space of blocks and one space of every other strategy. */
static inline void fixture_configure_all(struct fixture *f)
{
	fixture_configure(f);
	f->spaces[0] = f->space_config;
	f->spaces[1] = (struct links_space_config){
		.name = text_of("h6"),
		.number = 6,
		.length = 6,
		.strategy = text_of("hash"),
		.look_alikes = text_of("exclude"),
		.keys = {f->keys, 1},
	};
	f->spaces[2] = (struct links_space_config){
		.name = text_of("flake"),
		.number = 7,
		.strategy = text_of("snowflake"),
		.keys = {f->keys, 2},
	};
	f->spaces[3] = (struct links_space_config){
		.name = text_of("alias"),
		.number = 8,
		.strategy = text_of("alias"),
	};
	f->config.spaces = (struct setting_list){f->spaces, 4};
}

static inline int setup_without_space(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	redis_server_start(&f->server);
	fixture_configure(f);
	fixture_open_store(f);
	*state = f;
	return 0;
}

static inline int setup_fixture(void **state)
{
	enum space_created created;
	struct fixture *f;

	setup_without_space(state);
	f = *state;
	if (space_create(f->server.redis, f->space, 0, &created, &f->err))
		fail_msg("%s", f->err.text);
	return 0;
}

/* The same with a Redis Cluster of one node. */
static inline int setup_cluster(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	enum space_created created;

	redis_server_start_cluster(&f->server);
	fixture_configure(f);
	fixture_open_store(f);
	*state = f;
	if (space_create(f->server.redis, f->space, 0, &created, &f->err))
		fail_msg("%s", f->err.text);
	return 0;
}

/* A Redis with a space of every strategy. */
static inline int setup_all(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	enum space_created created;

	redis_server_start(&f->server);
	fixture_configure_all(f);
	fixture_open_store(f);
	*state = f;
	for (size_t i = 0; i < linkstore_space_count(f->store); i++)
		if (space_create(f->server.redis, linkstore_space(f->store, i),
				 0, &created, &f->err))
			fail_msg("%s", f->err.text);
	return 0;
}

static inline int teardown_fixture(void **state)
{
	struct fixture *f = *state;

	await_free(f->await);
	redis_server_stop(&f->server);
	linkstore_free(f->store);
	free(f);
	return 0;
}

#define TEST_ALL(name)                                                         \
	cmocka_unit_test_setup_teardown(name, setup_all, teardown_fixture)
#define TEST_CLUSTER(name)                                                     \
	cmocka_unit_test_setup_teardown(name, setup_cluster, teardown_fixture)
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_fixture, teardown_fixture)

/* The call must succeed; otherwise the test fails with its error. */
#define must(f, call)                                                          \
	do {                                                                   \
		if (call)                                                      \
			fail_msg("%s: %s", #call, (f)->err.text);              \
	} while (0)

/* The call must fail with this code. */
#define must_fail(f, call, expected)                                           \
	do {                                                                   \
		(f)->err = (struct error){0};                                  \
		assert_int_equal(call, -1);                                    \
		if ((f)->err.code != (expected))                               \
			fail_msg("unexpected: %s", (f)->err.text);             \
	} while (0)

static inline int try_grant(struct fixture *f, const struct link_class *ttl,
			    unsigned blocks, uint64_t cursor, struct grant *ret)
{
	struct grant_request request = {
		.space = f->space,
		.ttl = ttl,
		.blocks = blocks,
		.high_water.cursor = cursor,
		.name = "test",
	};

	return await_grant(f->await, &request, ret, &f->err);
}

static inline struct grant
make_grant(struct fixture *f, const struct link_class *ttl, unsigned blocks)
{
	static struct grant g;

	must(f, try_grant(f, ttl, blocks, 0, &g));
	return g;
}

/* Returns the first block of a grant, as its holder has it. */
static inline struct link_block block_of(const struct fixture *f,
					 const struct grant *g,
					 const struct link_class *ttl)
{
	struct link_block block = {
		.space = f->space,
		.ttl = ttl,
		.number = g->ranges[0].first,
		.generation = g->ranges[0].generation,
	};

	strcpy(block.holder, g->holder);
	return block;
}

static inline struct link_block open_block(struct fixture *f,
					   const struct link_class *ttl)
{
	struct grant g = make_grant(f, ttl, 1);
	struct link_block block = block_of(f, &g, ttl);
	int64_t end;

	must(f, await_open(f->await, &block, &end, &f->err));
	return block;
}

/* Stores a link at `offset` and returns its target. */
static inline struct link_target
store_link(struct fixture *f, const struct link_block *block, uint32_t offset)
{
	Shortloop__Link link = empty_link();
	struct link_target target;
	int64_t expires;

	link.url = text_of("https://example.org/");
	linkstore_code(f->space, block->number, offset, &target);
	must(f, link_prepare(block, offset, &link, &f->err));
	must(f, await_create(f->await, block, target.code, &link, 0, &expires,
			     &f->err));
	return target;
}

static inline void sleep_ms(int ms)
{
	usleep((useconds_t)ms * 1000);
}

static inline struct link_marker read_marker(struct fixture *f, uint64_t block)
{
	struct link_marker m;
	char words[64], text[512];

	snprintf(words, sizeof(words), "GET m:{s5:%d}", (int)block);
	redis_server_text(&f->server, words, text);
	assert_true(marker_parse(text, strlen(text), &m));
	return m;
}

static inline void set_marker(struct fixture *f, const char *text)
{
	const char *argv[] = {"SET", "m:{s5:0}", text};
	redisReply *reply;

	must(f, redis_command(f->server.redis, 3, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
}

static inline long long read_link_pttl(struct fixture *f,
				       const struct link_target *t)
{
	char words[192];

	if (link_space_has_blocks(t->space))
		snprintf(words, sizeof(words), "PTTL l:{s5:%d}:%s",
			 (int)t->block, t->code);
	else
		snprintf(words, sizeof(words), "PTTL l:{%s}", t->code);
	return redis_server_number(&f->server, words);
}

/* Returns the time at which a key expires, by Redis' clock. */
static inline long long gone_at(struct fixture *f, const struct link_target *t)
{
	char words[192];

	snprintf(words, sizeof(words), "PEXPIRETIME l:{s5:%d}:%s",
		 (int)t->block, t->code);
	return redis_server_number(&f->server, words);
}

/* Closes and settles the blocks 0 to `n` - 1, all ended, as the reclaimer does.
 */
static inline void reclaim_first(struct fixture *f, uint64_t n,
				 uint32_t generation)
{
	struct block_range member = {0, n - 1, generation};
	struct settle_part part = {SETTLE_POOL, {0, n - 1, generation + 1}, 0};
	struct reclaim_lock lock;
	struct block_scan look;

	for (uint64_t b = 0; b < n; b++) {
		must(f, block_scan_close(f->server.redis, f->space, &b, 1,
					 generation, &look, &f->err));
		assert_int_equal(look.state, BLOCK_ENDED);
	}
	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	must(f, reclaim_settle(f->server.redis, &lock, &member, 1, &part, 1,
			       &f->err));
	must(f, reclaim_lock_release(f->server.redis, &lock, &f->err));
}

#endif
