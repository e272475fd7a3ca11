/* Allows one reclaimer per space. */
#include "linkstore/space/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/host_name.h"
#include "linkstore/command.h"

#define HOST_MAX 65 /* bytes with NUL; longer host names are cut */

/* Makes "random pid since host": the first part makes it ours, the others name
 * the process. */
static int make_value(char ret_value[RECLAIM_LOCK_MAX], struct error *err)
{
	uint64_t random[2];
	char host[HOST_MAX];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_set_errno(err, "getrandom");
	host_name(host, sizeof(host), "");
	snprintf(ret_value, RECLAIM_LOCK_MAX,
		 "%016" PRIx64 "%016" PRIx64 " %d %" PRId64 " %s", random[0],
		 random[1], (int)getpid(), clock_real_ms(), host);
	return 0;
}

/* Returns false if the value has another format. */
static bool parse_holder(const char *value, long *ret_pid, int64_t *ret_since,
			 const char **ret_host)
{
	const char *at = strchr(value, ' ');
	char *pid_end, *since_end;

	if (!at)
		return false;
	*ret_pid = strtol(at, &pid_end, 10);
	*ret_since = strtoll(pid_end, &since_end, 10);
	*ret_host = since_end + 1;
	return *ret_pid > 0 && *ret_since > 0 && *since_end == ' ';
}

static int refuse_held_lock(const struct link_space *space,
			    const redisReply *holder, struct error *err)
{
	char since_text[RFC3339_TEXT_MAX];
	const char *host;
	int64_t since;
	long pid;

	if (holder->type != REDIS_REPLY_STRING ||
	    !parse_holder(holder->str, &pid, &since, &host))
		return error_set_retriable(err, ERROR_BUSY,
					   "space %s: another reclaimer is at "
					   "work",
					   space->name);
	return error_set_retriable(err, ERROR_BUSY,
				   "space %s: another reclaimer is at work: "
				   "process %ld on %.64s, since %s by its "
				   "clock",
				   space->name, pid, host,
				   rfc3339_format(since, since_text));
}

int reclaim_lock_take(struct redis *redis, const struct link_space *space,
		      int64_t ttl, struct reclaim_lock *ret_lock,
		      struct error *err)
{
	struct reclaim_lock lock = {.space = space, .ttl = ttl};
	struct command c;
	redisReply *reply;
	int status = 0;

	if (make_value(lock.value, err))
		return -1;
	command_script(&c, space, SCRIPT_LOCK_TAKE);
	command_space_key(&c, "lock:", space);
	command_text(&c, lock.value);
	command_time(&c, ttl);
	if (command_run(&c, redis, &reply, err))
		return -1;
	if (reply->type == REDIS_REPLY_NIL)
		*ret_lock = lock;
	else
		status = refuse_held_lock(space, reply, err);
	freeReplyObject(reply);
	return status;
}

static int use_lock(struct redis *redis, const struct reclaim_lock *lock,
		    int64_t ttl, bool *ret_ours, struct error *err)
{
	struct command c;
	redisReply *reply;

	command_script(&c, lock->space, SCRIPT_LOCK);
	command_space_key(&c, "lock:", lock->space);
	command_text(&c, lock->value);
	command_time(&c, ttl);
	if (command_run(&c, redis, &reply, err))
		return -1;
	*ret_ours = reply->integer == 1;
	freeReplyObject(reply);
	return 0;
}

int reclaim_lock_keep(struct redis *redis, const struct reclaim_lock *lock,
		      struct error *err)
{
	bool ours;

	if (use_lock(redis, lock, lock->ttl, &ours, err))
		return -1;
	if (!ours)
		return error_set_retriable(err, ERROR_NOT_OWNER,
					   "space %s: the reclaimer's lock is "
					   "not ours any more",
					   lock->space->name);
	return 0;
}

int reclaim_lock_release(struct redis *redis, const struct reclaim_lock *lock,
			 struct error *err)
{
	bool ours;

	return use_lock(redis, lock, 0, &ours, err);
}
