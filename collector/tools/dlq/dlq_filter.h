/* dlq_filter.h - the command line's choice of letters. */
#ifndef COLLECTOR_TOOLS_DLQ_DLQ_FILTER_H
#define COLLECTOR_TOOLS_DLQ_DLQ_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/dlq/dlq_record.h"
#include "common/error.h"

#define DLQ_FILTER_RANGES_MAX 256

/* Offsets in the topic of dead letters, both ends included. */
struct dlq_filter_range {
	int32_t partition; /* -1: not given */
	uint64_t first, last;
};

struct dlq_filter {
	int64_t from, to;   /* ms, when the letter was put; half-open */
	const char *reason; /* a part of the reason; NULL: any */
	struct dlq_filter_range ranges[DLQ_FILTER_RANGES_MAX];
	size_t range_count; /* 0: all offsets */
};

/* Parses "12", "0:12", "0:12-40,1:7".  ERROR_USAGE describes the error. */
int dlq_filter_read_offsets(struct dlq_filter *f, const char *text,
			    struct error *err);

/* Returns whether the record is a letter, and chosen. */
bool dlq_filter_takes(const struct dlq_filter *f,
		      const struct dlq_record *record);

#endif
