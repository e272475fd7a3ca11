#include "common/redis/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REDIS_MAJOR_MIN 7

/* --- addresses ------------------------------------------------------------ */

static int append_target(struct redis_targets *t, const char *text,
			 struct error *err)
{
	struct redis_address *all =
		realloc(t->all, (t->count + 1) * sizeof(*all));

	if (!all)
		return error_set_nomem(err);
	t->all = all;
	if (redis_address_parse(text, &all[t->count], err))
		return -1;
	t->count++;
	return 0;
}

/* "host:port, host:port" */
static int add_list(struct redis_targets *t, const char *list,
		    struct error *err)
{
	char *copy = strdup(list), *rest = copy, *word;
	int status = 0;
	size_t len;

	if (!copy)
		return error_set_nomem(err);
	while (status == 0 && (word = strsep(&rest, ","))) {
		word += strspn(word, " ");
		len = strlen(word);
		while (len && word[len - 1] == ' ')
			word[--len] = '\0';
		status = append_target(t, word, err);
	}
	free(copy);
	return status;
}

int redis_targets_parse(const struct redis_config *config,
			struct redis_targets *ret_targets, struct error *err)
{
	struct redis_targets t = {.sentinels = config->sentinels.count > 0};
	int status = 0;

	for (size_t i = 0; status == 0 && i < config->sentinels.count; i++)
		status = append_target(&t, config->sentinels.items[i], err);
	if (!t.sentinels)
		status = add_list(&t, config->address, err);
	if (status)
		redis_targets_free(&t);
	else
		*ret_targets = t;
	return status;
}

int redis_targets_of_replicas(const struct redis_config *config, size_t first,
			      struct redis_targets *ret_targets,
			      struct error *err)
{
	const struct setting_strings *all = config->sentinel_replicas
						    ? &config->sentinels
						    : &config->replicas;
	struct redis_targets t = {.sentinels = config->sentinel_replicas};
	int status = 0;

	for (size_t i = 0; status == 0 && i < all->count; i++)
		status = append_target(&t, all->items[(first + i) % all->count],
				       err);
	if (status)
		redis_targets_free(&t);
	else
		*ret_targets = t;
	return status;
}

void redis_targets_free(struct redis_targets *t)
{
	free(t->all);
	*t = (struct redis_targets){0};
}

/* --- checking a server ---------------------------------------------------- */

const char *redis_info_value(const char *info, const char *name)
{
	for (const char *at = info; (at = strstr(at, name)); at++)
		if (at == info || at[-1] == '\n')
			return at + strlen(name);
	return NULL;
}

/* The same for an answer; an error is returned. */
static const char *value_of(const redisReply *info, const char *name,
			    int *ret_status, struct error *err)
{
	*ret_status = 0;
	if (redis_error_is(info, "NOPERM"))
		return NULL;
	if (info->type == REDIS_REPLY_ERROR) {
		*ret_status = redis_error_reply(info, err);
		return NULL;
	}
	return info->type == REDIS_REPLY_STRING
		       ? redis_info_value(info->str, name)
		       : NULL;
}

int redis_check_version(const redisReply *info, struct error *err)
{
	int status;
	const char *version = value_of(info, "redis_version:", &status, err);

	if (!version || strtol(version, NULL, 10) >= REDIS_MAJOR_MIN)
		return status;
	return error_set_retriable(err, ERROR_REMOTE,
				   "it is version %.*s: %d.0 or later is "
				   "needed",
				   (int)strcspn(version, "\r\n"), version,
				   REDIS_MAJOR_MIN);
}

void redis_read_run_id(const redisReply *info,
		       char ret_run_id[REDIS_RUN_ID_SIZE])
{
	struct error ignored;
	int status;
	const char *id = value_of(info, "run_id:", &status, &ignored);

	snprintf(ret_run_id, REDIS_RUN_ID_SIZE, "%.*s",
		 id ? (int)strcspn(id, "\r\n") : 0, id ? id : "");
}

bool redis_info_keeps_slots_apart(const redisReply *info)
{
	static const char alone[] = "standalone";
	struct error ignored;
	int status;
	const char *mode = value_of(info, "redis_mode:", &status, &ignored);

	return !mode || strncmp(mode, alone, sizeof(alone) - 1) != 0;
}

int redis_check_role(const redisReply *info, struct error *err)
{
	int status;
	const char *role = value_of(info, "role:", &status, err);

	if (!role || !strncmp(role, "master", 6))
		return status;
	return error_set_retriable(err, ERROR_REMOTE,
				   "it is a replica: the master is needed");
}

int redis_check_replica(const redisReply *info, struct error *err)
{
	int status;
	const char *role = value_of(info, "role:", &status, err);

	if (!role || !strncmp(role, "slave", 5))
		return status;
	return error_set_retriable(err, ERROR_REMOTE, "it is no replica");
}

/* --- sentinels -------------------------------------------------------------
 */

static int parse_address(const char *host, const char *port,
			 struct redis_address *ret, struct error *err)
{
	char text[REDIS_HOST_MAX + 16];
	bool v6 = strchr(host, ':');

	snprintf(text, sizeof(text), "%s%.255s%s:%.8s", v6 ? "[" : "", host,
		 v6 ? "]" : "", port);
	if (redis_address_parse(text, ret, err) == 0)
		return 0;
	err->retriable = true;
	return -1;
}

static int no_sentinel(struct error *err)
{
	return error_set_retriable(err, ERROR_PROTOCOL,
				   "it does not answer as a sentinel does");
}

/* Returns a replica's value of that name; `replica` is a list of names and
 * values in turn.  NULL: there is none. */
static const char *field_of(const redisReply *replica, const char *name)
{
	for (size_t i = 0; i + 1 < replica->elements; i += 2) {
		const redisReply *key = replica->element[i],
				 *value = replica->element[i + 1];

		if (key->type == REDIS_REPLY_STRING &&
		    value->type == REDIS_REPLY_STRING &&
		    !strcmp(key->str, name))
			return value->str;
	}
	return NULL;
}

/* False if the sentinel, or most of them, consider the replica down, or have
 * lost contact with it. */
static bool is_up(const redisReply *replica)
{
	const char *flags = field_of(replica, "flags");

	return field_of(replica, "ip") && field_of(replica, "port") && flags &&
	       !strstr(flags, "_down") && !strstr(flags, "disconnected");
}

static bool is_linked(const redisReply *replica)
{
	const char *status = field_of(replica, "master-link-status");

	return status && !strcmp(status, "ok");
}

static bool is_wanted(const redisReply *replica, bool linked)
{
	return replica->type == REDIS_REPLY_ARRAY && is_up(replica) &&
	       (!linked || is_linked(replica));
}

static size_t count_wanted(const redisReply *reply, bool linked)
{
	size_t count = 0;

	for (size_t i = 0; i < reply->elements; i++)
		count += is_wanted(reply->element[i], linked);
	return count;
}

static const redisReply *nth_wanted(const redisReply *reply, bool linked,
				    size_t n)
{
	for (size_t i = 0; i < reply->elements; i++)
		if (is_wanted(reply->element[i], linked) && n-- == 0)
			return reply->element[i];
	return NULL;
}

int redis_parse_replicas(const redisReply *reply,
			 const struct redis_config *config, size_t pick,
			 struct redis_address *ret_replica, struct error *err)
{
	const redisReply *replica;
	bool linked = true;
	size_t count;

	if (reply->type == REDIS_REPLY_ERROR)
		return redis_error_reply(reply, err);
	if (reply->type != REDIS_REPLY_ARRAY)
		return no_sentinel(err);
	count = count_wanted(reply, linked);
	if (count == 0)
		count = count_wanted(reply, linked = false);
	if (count == 0)
		return error_set_retriable(
			err, ERROR_REMOTE,
			"this sentinel knows no replica of '%.60s' that is up",
			config->master_name);
	replica = nth_wanted(reply, linked, pick % count);
	return parse_address(field_of(replica, "ip"), field_of(replica, "port"),
			     ret_replica, err);
}

int redis_parse_master(const redisReply *reply,
		       const struct redis_config *config,
		       struct redis_address *ret_master, struct error *err)
{
	if (reply->type == REDIS_REPLY_ERROR)
		return redis_error_reply(reply, err);
	if (reply->type == REDIS_REPLY_NIL)
		return error_set_retriable(
			err, ERROR_REMOTE,
			"this sentinel knows no master '%.60s'",
			config->master_name);
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
	    reply->element[0]->type != REDIS_REPLY_STRING ||
	    reply->element[1]->type != REDIS_REPLY_STRING)
		return no_sentinel(err);
	return parse_address(reply->element[0]->str, reply->element[1]->str,
			     ret_master, err);
}
