/*
 * recheck.h - looks again at what one walk made suspicious; see survey.h.
 */
#ifndef RECLAIMER_VERIFY_RECHECK_H
#define RECLAIMER_VERIFY_RECHECK_H

#include "common/error.h"
#include "reclaimer/verify/survey.h"

#define RECHECK_TRIES 5
/* While the lock is held only grants and hand-backs move anything, and what is
 * to be repaired has to be proven. */
#define RECHECK_TRIES_LOCKED 40

/*
 * Takes what is in order off s->suspects and counts it; the rest becomes
 * findings, and is counted, too.  The suspects lie in the present window.
 */
int recheck(struct survey *s, struct error *err);

/* Members that contain blocks of the stretches, which are sorted; sorted
 * themselves.  member_list_free. */
int recheck_claims(struct survey *s, const struct stretches *stretches,
		   struct member_list *ret_claims, struct error *err);

#endif
