/* issued.h - a space's accounting, written directly to Redis. */
#ifndef TESTS_UNIT_RECLAIMER_ISSUED_H
#define TESTS_UNIT_RECLAIMER_ISSUED_H

#include "tests/unit/linkstore/fixture.h"

static inline void run_command_argv(struct fixture *f, int argc,
				    const char **argv)
{
	redisReply *reply;

	must(f,
	     redis_command(f->server.redis, argc, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
}

static inline void run_command(struct fixture *f, const char *words)
{
	freeReplyObject(redis_server_ask(&f->server, words));
}

static inline void put_marker(struct fixture *f, int block, const char *text)
{
	char key[64];

	snprintf(key, sizeof(key), "m:{s5:%d}", block);
	run_command_argv(f, 3, (const char *[]){"SET", key, text});
}

static inline long long count_members(struct fixture *f, const char *set)
{
	char words[64];

	snprintf(words, sizeof(words), "ZCARD %s:{s5}", set);
	return redis_server_number(&f->server, words);
}

/* Adds a member that has to be checked at that time. */
static inline void issue_until(struct fixture *f, const char *member,
			       int64_t score)
{
	char words[128];

	snprintf(words, sizeof(words), "ZADD issued:{s5} %lld %s",
		 (long long)score, member);
	redis_server_number(&f->server, words);
}

static inline void issue_member(struct fixture *f, const char *member)
{
	issue_until(f, member, 1000);
}

/* Adds a block that has ended, in a member of its own, which is due in the
 * order of its number. */
static inline void put_block(struct fixture *f, int block)
{
	char member[64];

	snprintf(member, sizeof(member), "%d-%d:1", block, block);
	issue_until(f, member, 1000 + block);
	put_marker(f, block, "1 o 1s 1000 2000 holder");
}

/* Adds live blocks in one member. */
static inline void put_live(struct fixture *f, int first, int last)
{
	char member[64];

	snprintf(member, sizeof(member), "%d-%d:1", first, last);
	issue_until(f, member, 99999999000001);
	for (int block = first; block <= last; block++)
		put_marker(f, block, "1 o 1s 1000 99999999000000 holder");
}

#endif
