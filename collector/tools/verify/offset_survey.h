/*
 * offset_survey.h - a summary of each partition in each of its topic's epochs,
 * from one answer of ClickHouse.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_OFFSET_SURVEY_H
#define COLLECTOR_TOOLS_VERIFY_OFFSET_SURVEY_H

#include <stddef.h>
#include <stdint.h>

#include "collector/tools/verify/ask.h"
#include "common/error.h"

struct offset_survey_entry {
	uint32_t partition, epoch;
	uint64_t first, last; /* least and greatest offset */
	uint64_t events;
};

/* Initialise it with zeros. */
struct offset_survey {
	struct offset_survey_entry *entries;
	size_t count;
};

/* Fills it from an answer with the columns partition, epoch, first, last,
 * events. */
int offset_survey_query(struct offset_survey *s, struct ask *a,
			struct error *err);
void offset_survey_free(struct offset_survey *s);

/* Returns NULL if it has no entry. */
const struct offset_survey_entry *
offset_survey_find(const struct offset_survey *s, uint32_t partition,
		   uint32_t epoch);

#endif
