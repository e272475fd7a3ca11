/*
 * check_reported.h - the events that Kafka no longer holds, against what the
 * collectors reported of them.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_CHECK_REPORTED_H
#define COLLECTOR_TOOLS_VERIFY_CHECK_REPORTED_H

#include "collector/tools/verify/verify.h"

int check_reported(struct verify *v, struct span *span, struct error *err);

#endif
