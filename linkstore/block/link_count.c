/* Counts the links that a block still has, key by key. */
#include "linkstore/block/link_count.h"

#include "linkstore/command.h"

/* Link keys in one EXISTS. */
#define KEYS_PER_EXISTS 256
#define KEYS_AT_FIRST	16
/* A lock is renewed after each KEYS_PER_LOCK keys. */
#define KEYS_PER_LOCK (16 * KEYS_PER_EXISTS)

/* Counts the links of `n` codes from number `at` of the block, under a
 * version. */
static int count_some(struct redis *redis, const struct link_space *space,
		      uint64_t block, unsigned version, uint64_t at, uint64_t n,
		      uint64_t *links, struct error *err)
{
	uint64_t id = block * space->block_size + at;
	char code[CODE_TEXT_MAX];
	struct command c;
	redisReply *reply;

	command_plain(&c, "EXISTS");
	for (uint64_t i = 0; i < n; i++) {
		codespace_encode_version(space->codes, version, id + i, code);
		command_link_key(&c, space, block, code);
	}
	if (command_run(&c, redis, &reply, err))
		return -1;
	*links += (uint64_t)reply->integer;
	freeReplyObject(reply);
	return 0;
}

/* Stops when `enough` links are found.  The first codes of a block are issued
 * first, so a few of them often suffice.  `lock` may be NULL. */
static int count_version(struct redis *redis, const struct link_space *space,
			 const struct reclaim_lock *lock, uint64_t block,
			 unsigned version, uint64_t enough, uint64_t *links,
			 struct error *err)
{
	uint64_t n;

	for (uint64_t at = 0; at < space->block_size && *links < enough;
	     at += n) {
		n = space->block_size - at;
		if (at == 0 && enough < n && n > KEYS_AT_FIRST)
			n = KEYS_AT_FIRST;
		if (n > KEYS_PER_EXISTS)
			n = KEYS_PER_EXISTS;
		if (lock && at && at % KEYS_PER_LOCK == 0 &&
		    reclaim_lock_keep(redis, lock, err))
			return -1;
		if (count_some(redis, space, block, version, at, n, links, err))
			return -1;
	}
	return 0;
}

int link_count_read(struct redis *redis, const struct link_space *space,
		    const struct reclaim_lock *lock, uint64_t block,
		    uint64_t *ret_links, struct error *err)
{
	uint64_t links = 0;

	for (unsigned v = 0; v < CODE_VERSIONS; v++)
		if (codespace_has_version(space->codes, v) &&
		    count_version(redis, space, lock, block, v, UINT64_MAX,
				  &links, err))
			return -1;
	*ret_links = links;
	return 0;
}

int link_count_any(struct redis *redis, const struct link_space *space,
		   uint64_t block, unsigned version, bool *ret_has,
		   struct error *err)
{
	uint64_t links = 0;

	if (count_version(redis, space, NULL, block, version, 1, &links, err))
		return -1;
	*ret_has = links > 0;
	return 0;
}
