/* choice.h - which letters the command line is about. */
#ifndef COLLECTOR_TOOLS_DLQ_CHOICE_H
#define COLLECTOR_TOOLS_DLQ_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/dlq/letter.h"
#include "common/error.h"

#define CHOICE_RANGES_MAX 256

/* Offsets in the topic of dead letters, both ends included. */
struct choice_range {
	int32_t partition; /* -1: not said */
	uint64_t first, last;
};

struct choice {
	int64_t from, to;   /* ms, when it was put there; half-open */
	const char *reason; /* part of it; NULL: any */
	struct choice_range ranges[CHOICE_RANGES_MAX];
	size_t range_count; /* 0: any */
};

/* "12", "0:12", "0:12-40,1:7".  ERROR_USAGE says what is wrong. */
int choice_read_offsets(struct choice *c, const char *text, struct error *err);

/* Is it a letter, and chosen? */
bool choice_takes(const struct choice *c, const struct letter *letter);

#endif
