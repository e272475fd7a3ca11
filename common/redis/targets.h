/*
 * targets.h - where a connection may go, and whether it has come to the right
 * place: what the blocking and the event-driven connection share.
 *
 * One address, several of which one is the master's, or sentinels, which know
 * where the master is ("Guidelines for Redis clients with support for Redis
 * Sentinel").  Whichever it is, the server is asked for its role before it is
 * used: who is told of a master may be told late.
 */
#ifndef COMMON_REDIS_TARGETS_H
#define COMMON_REDIS_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/redis/redis_config.h"
#include "common/redis/wire.h"

/* Commands by which a server is looked at; the answers go to the function. */
#define REDIS_ASK_VERSION "INFO", "server"
#define REDIS_ASK_ROLE	  "INFO", "replication"

/* The role is asked for anew when so much time has passed. */
#define ROLE_CHECK_MS 5000

struct redis_targets {
	struct redis_address *all;
	size_t count;	/* at least 1 */
	bool sentinels; /* that is what they are */
};

/* ERROR_CONFIG: redis.address or redis.sentinels is no list of addresses. */
int redis_targets_parse(const struct redis_config *config,
			struct redis_targets *ret_targets, struct error *err);
/* The replicas, of which there are some, beginning with the first-th (modulo
 * their number); or the sentinels that know of them, likewise. */
int redis_targets_of_replicas(const struct redis_config *config, size_t first,
			      struct redis_targets *ret_targets,
			      struct error *err);
void redis_targets_free(struct redis_targets *t);

/* What follows `name`, "role:" say, at the beginning of one of INFO's lines;
 * NULL: there is none. */
const char *redis_info_value(const char *info, const char *name);

/* An INFO that is not permitted says nothing against a server.  -1: an error
 * reply, too old a Redis, or no master.  Retriable, since it is another server
 * soon. */
int redis_check_version(const redisReply *info, struct error *err);
int redis_check_role(const redisReply *info, struct error *err);
/* The same of one that is to be a replica. */
int redis_check_replica(const redisReply *info, struct error *err);

/* Which start of which server it is, as the answer to REDIS_ASK_VERSION says;
 * "": it does not. */
#define REDIS_RUN_ID_SIZE 41
void redis_read_run_id(const redisReply *info,
		       char ret_run_id[REDIS_RUN_ID_SIZE]);

/*
 * The answer to SENTINEL replicas.  Of those that are up, as far as that
 * sentinel knows, and in touch with their master if any is, the pick-th (modulo
 * their number).  What it says may be late: who comes there asks for its role.
 */
int redis_parse_replicas(const redisReply *reply,
			 const struct redis_config *config, size_t pick,
			 struct redis_address *ret_replica, struct error *err);

/* The answer to SENTINEL get-master-addr-by-name. */
int redis_parse_master(const redisReply *reply,
		       const struct redis_config *config,
		       struct redis_address *ret_master, struct error *err);

#endif
