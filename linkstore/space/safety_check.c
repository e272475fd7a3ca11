/* Checks whether Redis' data can be trusted (promise 9). */
#include "linkstore/space/safety_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/command.h"

/* Finds the value of "name:" in INFO's lines; returns its length, 0 if it is
 * absent. */
static size_t info_value(const char *info, const char *name,
			 const char **ret_value)
{
	size_t len = strlen(name);
	const char *line = info;

	while (line) {
		if (!strncmp(line, name, len) && line[len] == ':') {
			*ret_value = line + len + 1;
			return strcspn(*ret_value, "\r\n");
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return 0;
}

static int check_info(const char *info, const struct link_space *space,
		      uint64_t evicted_before, struct error *err)
{
	const char *value = NULL;
	uint64_t evicted;
	size_t len = info_value(info, "maxmemory_policy", &value);

	if (len != strlen("noeviction") ||
	    strncmp(value, "noeviction", len) != 0)
		return error_set(err, ERROR_UNSAFE,
				 "Redis has maxmemory-policy %.*s, so it may "
				 "drop markers: an absent one would say "
				 "nothing.  Set it to noeviction",
				 (int)len, len ? value : "");
	len = info_value(info, "evicted_keys", &value);
	evicted = len ? strtoull(value, NULL, 10) : 0;
	/* Redis counts from 0 again after a restart. */
	if (evicted < evicted_before)
		evicted_before = 0;
	if (evicted > evicted_before)
		return error_set(
			err, ERROR_UNSAFE,
			"Redis has evicted %" PRIu64 " keys, of which %" PRIu64
			" were known: markers may be among them.  Compare "
			"with the archive, then note the number: HSET "
			"space:{%s} evicted_keys %" PRIu64,
			evicted, evicted_before, space->name, evicted);
	return 0;
}

static int check_record(const redisReply *record, const redisReply *cursor,
			const struct link_space *space, uint64_t *ret_evicted,
			struct error *err)
{
	if (!reply_is_array(record, 2))
		return reply_malformed("HMGET", err);
	if (record->element[0]->type != REDIS_REPLY_STRING)
		return error_set(err, ERROR_UNSAFE,
				 "space %s has no record in Redis: either it "
				 "was never created, or Redis has lost it",
				 space->name);
	if (cursor->type != REDIS_REPLY_STRING)
		return error_set(err, ERROR_UNSAFE,
				 "space %s has lost its cursor", space->name);
	*ret_evicted = (uint64_t)reply_number(record, 1, 0);
	return 0;
}

static int fetch_reply(struct redis *redis, struct command *c,
		       redisReply **ret_reply, struct error *err)
{
	int status = command_run(c, redis, ret_reply, err);

	if (status)
		*ret_reply = NULL;
	return status;
}

static int64_t clock_of(const char *info)
{
	const char *value;

	return info_value(info, "server_time_usec", &value)
		       ? strtoll(value, NULL, 10) / 1000
		       : 0;
}

int space_safety_check(struct redis *redis, const struct link_space *space,
		       int64_t *ret_redis_ms, struct error *err)
{
	redisReply *info = NULL, *record = NULL, *cursor = NULL;
	uint64_t evicted = 0;
	struct command c;
	int status = -1;

	command_plain(&c, "INFO");
	command_text(&c, "everything");
	if (fetch_reply(redis, &c, &info, err))
		goto out;
	command_plain(&c, "HMGET");
	command_space_key(&c, "space:", space);
	command_text(&c, "number");
	command_text(&c, "evicted_keys");
	if (fetch_reply(redis, &c, &record, err))
		goto out;
	command_plain(&c, "GET");
	command_space_key(&c, "cursor:", space);
	if (fetch_reply(redis, &c, &cursor, err))
		goto out;
	if (check_record(record, cursor, space, &evicted, err))
		goto out;
	if (info->type != REDIS_REPLY_STRING) {
		reply_malformed("INFO", err);
		goto out;
	}
	if (ret_redis_ms)
		*ret_redis_ms = clock_of(info->str);
	status = check_info(info->str, space, evicted, err);
out:
	if (info)
		freeReplyObject(info);
	if (record)
		freeReplyObject(record);
	if (cursor)
		freeReplyObject(cursor);
	return status;
}
