/* walk.h - goes through all letters there are. */
#ifndef COLLECTOR_TOOLS_DLQ_WALK_H
#define COLLECTOR_TOOLS_DLQ_WALK_H

#include "collector/tools/dlq/letter.h"
#include "common/kafka/reader.h"

/* -1 and *err ends the walk. */
typedef int letter_fn(void *arg, const struct letter *letter,
		      struct error *err);

/*
 * Calls `fn` for what lies in the topic `dlq` now and was put there at
 * `since_ms` or later, partition by partition.  Marks and foreign records, too.
 */
int letters_walk(struct kafka_reader *reader, const char *dlq, int64_t since_ms,
		 letter_fn *fn, void *arg, struct error *err);

#endif
