/*
 * day_pass.h - one pass over days: settles, seals, copies for owners, rolls up,
 * drops and cleans up.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_DAY_PASS_H
#define AGGREGATOR_SETTLE_DAY_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/drop.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settling.h"
#include "common/error.h"

struct day_pass;

/* Copies *settling; what it points to must outlive the pass. */
struct day_pass *day_pass_new(const struct settling *settling,
			      struct error *err);
void day_pass_free(struct day_pass *pass); /* NULL accepted */

struct day_pass_result {
	size_t days;		     /* days settled */
	size_t copied[COPIED_KINDS]; /* days copied, by kind */
	size_t dropped;		     /* days dropped */
	struct drop_outcome drop; /* of the last day that was to be dropped */
	struct drop_deleted deleted; /* rows deleted of dropped days */
	int64_t kept_from; /* months before it were dropped; 0: none was */
	bool more;	   /* more work is due: run the next pass at once */
	/* A day that an import or a rescoring has changed is settled once it
	 * changes no more: run the next pass within settle_every. */
	bool soon;
	bool ended;		/* nothing was skipped */
	int64_t complete_until; /* ms, as last read; 0: not known */
	/* Repeats found in days before they are dropped. */
	struct repeats_removed removed;
};

/*
 * With `days`, one pass settles at most one day, then makes each of the copies
 * of derived_tables.h of at most one, then drops one; it stops after the first
 * step that did one.  Then it deletes superseded and dropped rows if that is
 * due.
 *
 * A day that fails stops neither other days, which later passes take, nor the
 * later steps of this pass; the pass returns the error at its end, and *ret is
 * set even then.  Loss of the lease (ERROR_STOPPED, retriable) and a ClickHouse
 * that does not answer end the pass.  A day that is held back is tried again
 * when something else changed it, and at every recheck of everything.
 *
 * While the tables are as they were when a pass found no work (table_state.h),
 * later passes only delete superseded rows, and look for other work once in a
 * few settle_every.
 */
int day_pass_run(struct day_pass *pass, bool days, struct day_pass_result *ret,
		 struct error *err);

#endif
