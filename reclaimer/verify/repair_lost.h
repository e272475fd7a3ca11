/* repair_lost.h - lost blocks that never had a link go back to the pool. */
#ifndef RECLAIMER_VERIFY_REPAIR_LOST_H
#define RECLAIMER_VERIFY_REPAIR_LOST_H

#include "common/error.h"
#include "reclaimer/verify/repair.h"

int repair_lost(struct repair *r, struct error *err);

#endif
