/*
 * check_available.h - the events that Kafka still holds, against what is stored
 * of them.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_CHECK_AVAILABLE_H
#define COLLECTOR_TOOLS_VERIFY_CHECK_AVAILABLE_H

#include "collector/tools/verify/verify.h"

int check_available(struct verify *v, struct span *span, struct error *err);

#endif
