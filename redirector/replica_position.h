/*
 * replica_position.h - up to when a replica has what was written to its master.
 *
 * The master is asked how far its stream of writes is (INFO replication:
 * master_repl_offset); once the replica has come as far, it has all that was
 * written before that question.  Offsets are compared within one history
 * (master_replid), which begins anew with each promotion: what was known in
 * another is forgotten.  So nothing is written for it, and a replica that is
 * behind, whose link is down, or that is at another master is found out alike.
 *
 * A master may go back within one history: a virtual machine that is put back
 * to a snapshot.  Its replica is then ahead of it, with writes that the master
 * no longer has.  So an offset counts only once the master is known to be past
 * it, and a replica whose master was heard to go back counts for nothing until
 * it has resynchronised: Redis itself lets it go on in the new stream, with
 * its old data, if the master has overtaken it before it connects again.
 *
 * Belongs to one thread.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_REPLICA_POSITION_H
#define REDIRECTOR_REPLICA_POSITION_H

#include <stdbool.h>
#include <stdint.h>

/* Later than nothing, and sums with it do not overflow. */
#define REPLICA_NEVER (INT64_MIN / 2)

/* Does the replica have nothing that the master has not? */
enum replica_stream {
	REPLICA_STREAM_UNPROVEN,
	REPLICA_STREAM_SAME,	  /* the master was past where it was */
	REPLICA_STREAM_ABANDONED, /* the master went back */
};

struct replica_position {
	char history[41];   /* "": not known */
	long long offset;   /* that the replica is to reach */
	long long furthest; /* that either was heard to be at */
	int64_t asked;	    /* when the master was asked for `offset` */
	bool reached;	    /* or will not: the master is asked next */
	int64_t as_of;	    /* it has all that was written before, or
			     * REPLICA_NEVER */
	enum replica_stream stream;
	/* What the replica said last; -1: nothing. */
	long long replica_offset;
	long long backlog_start; /* also -1: its backlog is full */
};

/* Nothing is known: also when the replica may be another one. */
void replica_position_reset(struct replica_position *p);

/* What the master says, which was asked at that time.  False: it does not say
 * how far it is. */
bool replica_position_of_master(struct replica_position *p, const char *info,
				int64_t asked);

/* What the replica says.  True: the master is to be asked next, since it has
 * come as far, or will not; false: the replica again. */
bool replica_position_of_replica(struct replica_position *p, const char *info);

#endif
