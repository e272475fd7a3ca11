#include "collector/tools/verify/survey.h"

#include <stdlib.h>

int survey_ask(struct survey *s, struct ask *a, struct error *err)
{
	const uint64_t *n;
	size_t count;

	*s = (struct survey){0};
	if (ask_numbers(a, 5, &n, &count, err) < 0)
		return -1;
	s->entries = calloc(count + 1, sizeof(*s->entries));
	if (!s->entries)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++, n += 5)
		s->entries[i] = (struct survey_entry){
			.partition = (uint32_t)n[0],
			.epoch = (uint32_t)n[1],
			.first = n[2],
			.last = n[3],
			.events = n[4],
		};
	s->count = count;
	return 0;
}

void survey_free(struct survey *s)
{
	free(s->entries);
	*s = (struct survey){0};
}

const struct survey_entry *survey_find(const struct survey *s,
				       uint32_t partition, uint32_t epoch)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->entries[i].partition == partition &&
		    s->entries[i].epoch == epoch)
			return &s->entries[i];
	return NULL;
}
