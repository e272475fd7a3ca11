/*
 * check_reported.h - compares the events that Kafka no longer holds with the
 * collectors' reports.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_CHECK_REPORTED_H
#define COLLECTOR_TOOLS_VERIFY_CHECK_REPORTED_H

#include "collector/tools/verify/verify.h"

int check_reported(struct verify *v, struct span *span, struct error *err);

#endif
