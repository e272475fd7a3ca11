/*
 * replica_position.h - the time until which a replica has all writes of its
 * master.
 *
 * The master is queried for the offset of its stream of writes (INFO
 * replication: master_repl_offset); once the replica has reached that offset,
 * it has all that was written before the query.  Offsets are compared within
 * one history (master_replid), which changes with each promotion: what was
 * known in another history is dropped.  So nothing has to be written for this.
 * It works in the same way for a replica that is behind, one whose link is
 * down, and one that follows another master.
 *
 * A master may go back within one history, if its virtual machine is reset to a
 * snapshot.  Its replica is then ahead, with writes that the master no longer
 * has.  So an offset counts only once the master is known to be past it, and a
 * replica whose master was seen to go back counts for nothing until it has
 * resynchronised: Redis itself lets it go on in the new stream, with its old
 * data, if the master has overtaken it before it connects again.
 *
 * Belongs to one thread.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_LOOKUP_REPLICA_POSITION_H
#define REDIRECTOR_LOOKUP_REPLICA_POSITION_H

#include <stdbool.h>
#include <stdint.h>

/* Earlier than all times; sums with it do not overflow. */
#define REPLICA_NEVER (INT64_MIN / 2)

/* Whether all data of the replica is in the master, too. */
enum replica_stream {
	REPLICA_STREAM_UNPROVEN,
	REPLICA_STREAM_SAME,	  /* the master was past the replica's offset */
	REPLICA_STREAM_ABANDONED, /* the master went back */
};

struct replica_position {
	char history[41];   /* "": unknown */
	long long offset;   /* offset that the replica is to reach */
	long long furthest; /* highest offset known of either */
	int64_t asked;	    /* when the master was queried for `offset` */
	bool reached;	    /* or it will not: query the master next */
	int64_t as_of;	    /* time before which it has all writes, or
			     * REPLICA_NEVER */
	enum replica_stream stream;
	/* The last values of the replica; -1: none. */
	long long replica_offset;
	long long backlog_start; /* -1, too, if its backlog is full */
};

/* Drops all that is known; also called when the replica may be another one. */
void replica_position_reset(struct replica_position *p);

/* Takes the answer of the master to a query that was sent at `asked`.  Returns
 * false if the answer has no offset. */
bool replica_position_of_master(struct replica_position *p, const char *info,
				int64_t asked);

/* Takes the answer of the replica.  Returns true if the master is to be queried
 * next, since the replica has reached the offset, or will not; false: the
 * replica again. */
bool replica_position_of_replica(struct replica_position *p, const char *info);

#endif
