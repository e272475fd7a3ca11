/*
 * survey.h - a summary of each partition in each of its topic's epochs, from
 * one answer of ClickHouse.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_SURVEY_H
#define COLLECTOR_TOOLS_VERIFY_SURVEY_H

#include <stddef.h>
#include <stdint.h>

#include "collector/tools/verify/ask.h"
#include "common/error.h"

struct survey_entry {
	uint32_t partition, epoch;
	uint64_t first, last; /* least and greatest offset */
	uint64_t events;
};

/* Initialise it with zeros. */
struct survey {
	struct survey_entry *entries;
	size_t count;
};

/* Fills it from an answer with the columns partition, epoch, first, last,
 * events. */
int survey_ask(struct survey *s, struct ask *a, struct error *err);
void survey_free(struct survey *s);

/* Returns NULL if it has no entry. */
const struct survey_entry *survey_find(const struct survey *s,
				       uint32_t partition, uint32_t epoch);

#endif
