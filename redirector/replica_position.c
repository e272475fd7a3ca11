#include "redirector/replica_position.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/redis/targets.h"

struct position {
	char history[41];
	long long offset;
};

static bool read_position(const char *info, const char *offset_name,
			  struct position *ret)
{
	const char *history = redis_info_value(info, "master_replid:"),
		   *offset = redis_info_value(info, offset_name);
	char *end;

	if (!history || !offset || strcspn(history, "\r\n") != 40)
		return false;
	snprintf(ret->history, sizeof(ret->history), "%.40s", history);
	ret->offset = strtoll(offset, &end, 10);
	return end != offset && ret->offset >= 0;
}

void replica_position_reset(struct replica_position *p)
{
	*p = (struct replica_position){.reached = true, .as_of = REPLICA_NEVER};
}

bool replica_position_of_master(struct replica_position *p, const char *info,
				int64_t asked)
{
	struct position at;

	if (!read_position(info, "master_repl_offset:", &at))
		return false;
	if (strcmp(p->history, at.history) != 0)
		p->as_of = REPLICA_NEVER;
	memcpy(p->history, at.history, sizeof(p->history));
	p->offset = at.offset;
	p->asked = asked;
	p->reached = false;
	return true;
}

bool replica_position_of_replica(struct replica_position *p, const char *info)
{
	struct position at;

	if (p->reached || !read_position(info, "slave_repl_offset:", &at))
		return false;
	/* It may not have followed the master yet, or be another's; or
	 * another master has taken over, which this one will not tell. */
	if (strcmp(p->history, at.history) != 0) {
		p->as_of = REPLICA_NEVER;
		p->reached = true;
		return true;
	}
	if (at.offset < p->offset)
		return false;
	p->reached = true;
	p->as_of = p->asked;
	return true;
}
