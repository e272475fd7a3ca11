#include "redirector/lookup/replica_position.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/redis/targets.h"

/* --- fields of INFO ------------------------------------------------------- */

struct position {
	char history[41];
	long long offset;
};

/* Returns -1 if the field is missing. */
static long long read_number(const char *info, const char *name)
{
	const char *text = redis_info_value(info, name);
	long long number;
	char *end;

	if (!text)
		return -1;
	number = strtoll(text, &end, 10);
	return end != text && number >= 0 ? number : -1;
}

static bool read_position(const char *info, const char *offset_name,
			  struct position *ret)
{
	const char *history = redis_info_value(info, "master_replid:");

	if (!history || strcspn(history, "\r\n") != 40)
		return false;
	snprintf(ret->history, sizeof(ret->history), "%.40s", history);
	ret->offset = read_number(info, offset_name);
	return ret->offset >= 0;
}

static bool link_is_up(const char *info)
{
	const char *status = redis_info_value(info, "master_link_status:");

	return status && !strncmp(status, "up", 2);
}

/* A replica keeps a backlog of the stream, too.  It begins where the last full
 * copy of the data was sent, until it is full and drops its beginning. */
static long long read_backlog_start(const char *info)
{
	long long length = read_number(info, "repl_backlog_histlen:");

	if (length < 0 || length >= read_number(info, "repl_backlog_size:"))
		return -1;
	return read_number(info, "repl_backlog_first_byte_offset:");
}

/* --- one stream ----------------------------------------------------------- */

static void forget_replica(struct replica_position *p)
{
	p->as_of = REPLICA_NEVER;
	p->stream = REPLICA_STREAM_UNPROVEN;
	p->replica_offset = p->backlog_start = -1;
}

static void begin_stream(struct replica_position *p)
{
	forget_replica(p);
	p->furthest = -1;
}

/* True if the replica received a full copy of the data since its last answer.
 * A replica that goes on in the stream never falls back, and the start of its
 * backlog stays.  A falling offset alone may be missed, since it soon exceeds
 * its old value. */
static bool has_resynchronised(const struct replica_position *p,
			       long long offset, long long backlog_start)
{
	if (p->replica_offset < 0)
		return false;
	return offset < p->replica_offset ||
	       (backlog_start >= 0 && backlog_start != p->backlog_start);
}

static void note_replica(struct replica_position *p, long long offset,
			 long long backlog_start)
{
	if (has_resynchronised(p, offset, backlog_start)) {
		p->stream = REPLICA_STREAM_UNPROVEN;
		p->furthest = offset;
	}
	if (p->stream != REPLICA_STREAM_ABANDONED && p->furthest < offset)
		p->furthest = offset;
	p->replica_offset = offset;
	p->backlog_start = backlog_start;
}

static void note_master(struct replica_position *p, long long offset)
{
	if (offset < p->furthest) {
		p->as_of = REPLICA_NEVER;
		p->stream = REPLICA_STREAM_ABANDONED;
	} else if (p->stream == REPLICA_STREAM_UNPROVEN &&
		   p->replica_offset >= 0) {
		p->stream = REPLICA_STREAM_SAME;
	}
	p->furthest = offset;
}

/* --- interface ------------------------------------------------------------ */

void replica_position_reset(struct replica_position *p)
{
	*p = (struct replica_position){.reached = true};
	begin_stream(p);
}

bool replica_position_of_master(struct replica_position *p, const char *info,
				int64_t asked)
{
	struct position at;

	if (!read_position(info, "master_repl_offset:", &at))
		return false;
	if (strcmp(p->history, at.history) != 0)
		begin_stream(p);
	note_master(p, at.offset);
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
	/* The replica may not have followed the master yet, or follow another
	 * one; or another master has taken over, which this replica's answers
	 * will not show. */
	if (strcmp(p->history, at.history) != 0) {
		forget_replica(p);
		p->reached = true;
		return true;
	}
	note_replica(p, at.offset, read_backlog_start(info));
	if (p->stream == REPLICA_STREAM_ABANDONED) {
		p->reached = true;
		return true;
	}
	if (at.offset < p->offset || !link_is_up(info))
		return false;
	p->reached = true;
	/* A replica that is past `offset` has either later writes, or writes
	 * that the master no longer has: the master's next answer decides. */
	if (at.offset == p->offset || p->stream == REPLICA_STREAM_SAME)
		p->as_of = p->asked;
	return true;
}
