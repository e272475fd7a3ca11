#include "collector/tools/verify/offset_survey.h"

#include <stdlib.h>

int offset_survey_query(struct offset_survey *s, struct ask *a,
			struct error *err)
{
	const uint64_t *n;
	size_t count;

	*s = (struct offset_survey){0};
	if (ask_numbers(a, 5, &n, &count, err) < 0)
		return -1;
	s->entries = calloc(count + 1, sizeof(*s->entries));
	if (!s->entries)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++, n += 5)
		s->entries[i] = (struct offset_survey_entry){
			.partition = (uint32_t)n[0],
			.epoch = (uint32_t)n[1],
			.first = n[2],
			.last = n[3],
			.events = n[4],
		};
	s->count = count;
	return 0;
}

void offset_survey_free(struct offset_survey *s)
{
	free(s->entries);
	*s = (struct offset_survey){0};
}

const struct offset_survey_entry *
offset_survey_find(const struct offset_survey *s, uint32_t partition,
		   uint32_t epoch)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->entries[i].partition == partition &&
		    s->entries[i].epoch == epoch)
			return &s->entries[i];
	return NULL;
}
