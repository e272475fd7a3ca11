/*
 * seal.h - sealed days: clicks and visitors of links in a table by month.
 *
 * A day is sealed by the rules of day_copy.h, `late_window` after its end.
 */
#ifndef AGGREGATOR_SETTLE_SEAL_H
#define AGGREGATOR_SETTLE_SEAL_H

#include "aggregator/settle/day_copy.h"

extern const struct day_copy_kind sealed_days;

#endif
