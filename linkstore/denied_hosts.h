/*
 * denied_hosts.h - the hosts that a moderator has taken down, in Redis: no link
 * may lead there.  They are written as on a list of domains
 * (common/domain_list.h) and never expire.
 *
 * Each change has a revision of its own, which is higher than all before, so
 * that a program reads only what it has not seen.
 */
#ifndef LINKSTORE_DENIED_HOSTS_H
#define LINKSTORE_DENIED_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/operator.h"
#include "common/domain_list.h"
#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

#define DENIED_HOSTS_KEY   "{denied}:hosts"
#define DENIED_CHANGES_KEY "{denied}:changes"
#define DENIED_REASON_MAX  512	/* including its NUL */
#define DENIED_PAGE	   1000 /* changes that are read at once */

/* The record of who denied a host. */
struct denial {
	int64_t time_ms; /* by Redis' clock */
	char who[OPERATOR_NAME_MAX];
	char reason[DENIED_REASON_MAX]; /* "": none was given */
};

/* Reads a stored text.  Returns false if it is damaged. */
bool denial_parse(const char *text, size_t len, struct denial *ret);

/* Returns ERROR_INPUT for a text that cannot be stored as a reason. */
int denied_hosts_check_reason(const char *reason, struct error *err);

/* --- changes -------------------------------------------------------------- */

struct denied_result {
	bool changed; /* false: it was so already */
	uint64_t revision;
	struct denial before; /* if it was denied already */
};

/* `redis` knows the scripts of `store`.  `domain` is in its one form
 * (listed_domain_put).  `reason` may be "". */
int denied_hosts_deny(struct redis *redis, const struct linkstore *store,
		      const char *domain, const char *who, const char *reason,
		      struct denied_result *ret, struct error *err);
/* Lifts the denial.  This gets a revision even if Redis does not have the host:
 * programs may have it from before Redis lost data. */
int denied_hosts_lift(struct redis *redis, const struct linkstore *store,
		      const char *domain, struct denied_result *ret,
		      struct error *err);

/* --- reading -------------------------------------------------------------- */

struct denied_change {
	const char *domain; /* as stored; it need not be a valid one */
	uint64_t revision;
	const char *value; /* of `denial_parse`; "": the denial was lifted */
	size_t value_len;
};

/* Called for each change; returns -1 to end the reading. */
typedef int denied_change_fn(void *arg, const struct denied_change *change,
			     struct error *err);

struct denied_page {
	uint64_t revision; /* the last in Redis; 0: there was no change */
	size_t hosts;	   /* denied hosts in Redis */
	size_t changes;	   /* read; DENIED_PAGE: there may be more */
	uint64_t last;	   /* revision of the last change that was read */
};

/* Reads the changes after revision `since`, DENIED_PAGE at most. */
int denied_hosts_read(struct redis *redis, const struct linkstore *store,
		      uint64_t since, denied_change_fn *fn, void *arg,
		      struct denied_page *ret, struct error *err);

#endif
