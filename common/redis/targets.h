/*
 * targets.h - the servers that a connection may use, and the check that a
 * server has the right role; shared by the blocking and the event-driven
 * connection.
 *
 * The targets are one address, several of which one is the master's, or
 * sentinels, which know where the master is ("Guidelines for Redis clients with
 * support for Redis Sentinel").  In each case the server's role is queried
 * before it is used, since what a sentinel says may be outdated.
 */
#ifndef COMMON_REDIS_TARGETS_H
#define COMMON_REDIS_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/redis/redis_config.h"
#include "common/redis/wire.h"

/* Commands that query a server; the answers go to the functions below. */
#define REDIS_ASK_VERSION "INFO", "server"
#define REDIS_ASK_ROLE	  "INFO", "replication"

/* The interval after which the role is queried again. */
#define ROLE_CHECK_MS 5000

struct redis_targets {
	struct redis_address *all;
	size_t count;	/* at least 1 */
	bool sentinels; /* the addresses are those of sentinels */
};

/* ERROR_CONFIG: redis.address or redis.sentinels is no list of addresses. */
int redis_targets_parse(const struct redis_config *config,
			struct redis_targets *ret_targets, struct error *err);
/* Returns the replicas, of which there has to be one, beginning with number
 * `first` (modulo their count); or the sentinels that know them, likewise. */
int redis_targets_of_replicas(const struct redis_config *config, size_t first,
			      struct redis_targets *ret_targets,
			      struct error *err);
void redis_targets_free(struct redis_targets *t);

/* Returns what follows `name`, such as "role:", at the beginning of one of
 * INFO's lines; NULL: there is none. */
const char *redis_info_value(const char *info, const char *name);

/* These return -1 for an error reply, a Redis that is too old, or a server that
 * is not the master.  The error is retriable, since the server may soon be
 * another.  If INFO is not permitted, the server is accepted. */
int redis_check_version(const redisReply *info, struct error *err);
int redis_check_role(const redisReply *info, struct error *err);
/* The same for a server that has to be a replica. */
int redis_check_replica(const redisReply *info, struct error *err);

/* Returns whether all keys of a command have to be in one slot, by the answer
 * to REDIS_ASK_VERSION: the server is a cluster's node, or does not say that it
 * is none. */
bool redis_info_keeps_slots_apart(const redisReply *info);

/* Reads the id of the server's run from the answer to REDIS_ASK_VERSION; "": it
 * has none. */
#define REDIS_RUN_ID_SIZE 41
void redis_read_run_id(const redisReply *info,
		       char ret_run_id[REDIS_RUN_ID_SIZE]);

/*
 * Parses the answer to SENTINEL replicas.  Selects from the replicas that are
 * up, as far as that sentinel knows, and prefers those in contact with their
 * master; takes number `pick` (modulo their count).  The answer may be
 * outdated: the caller has to query the replica's role.
 */
int redis_parse_replicas(const redisReply *reply,
			 const struct redis_config *config, size_t pick,
			 struct redis_address *ret_replica, struct error *err);

/* Parses the answer to SENTINEL get-master-addr-by-name. */
int redis_parse_master(const redisReply *reply,
		       const struct redis_config *config,
		       struct redis_address *ret_master, struct error *err);

#endif
