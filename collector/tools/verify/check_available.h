/*
 * check_available.h - compares the events that Kafka still holds with their
 * stored rows.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_CHECK_AVAILABLE_H
#define COLLECTOR_TOOLS_VERIFY_CHECK_AVAILABLE_H

#include "collector/tools/verify/verify.h"

int check_available(struct verify *v, struct span *span, struct error *err);

#endif
