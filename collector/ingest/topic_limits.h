/*
 * topic_limits.h - looks at the start whether the topics bound what an answer
 * of a broker unpacks to, and whether their records have the brokers' time.
 */
#ifndef COLLECTOR_INGEST_TOPIC_LIMITS_H
#define COLLECTOR_INGEST_TOPIC_LIMITS_H

#include <stddef.h>

#include "collector/collector_config.h"
#include "collector/memory.h"
#include "common/log.h"

/*
 * Bytes, packed, that may be asked for of clicks and links together; 0: one
 * batch at a time.  Waits a few seconds for the brokers.  A line in the log for
 * each topic that does not bound it, or whose batches may unpack to more than
 * there is room for, or whose records have the time of who sent them.
 */
size_t topic_limits_choose(const struct collector_config *config,
			   const struct memory_shares *shares, struct log *log);

#endif
