/*
 * topic_limits.h - checks at the start whether the topics limit the size of an
 * unpacked answer of a broker, and whether their records have the brokers'
 * time.
 */
#ifndef COLLECTOR_INGEST_TOPIC_LIMITS_H
#define COLLECTOR_INGEST_TOPIC_LIMITS_H

#include <stddef.h>

#include "collector/collector_config.h"
#include "collector/memory.h"
#include "common/log.h"

/*
 * Returns how many packed bytes may be requested of clicks and links together;
 * 0: one batch at a time.  Waits a few seconds for the brokers.  Logs a line
 * for each topic that has no such limit, or whose batches may unpack to more
 * than there is room for, or whose records have the producer's time.
 */
size_t topic_limits_choose(const struct collector_config *config,
			   const struct memory_shares *shares, struct log *log);

#endif
