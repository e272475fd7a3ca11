/* Finds an hour in a table of counts. */
#ifndef TESTS_UNIT_REDIRECTOR_HOURS_H
#define TESTS_UNIT_REDIRECTOR_HOURS_H

#include <stddef.h>

#include "redirector/counters/hour_counts.h"

/* Returns NULL if the table does not have that hour. */
static inline const struct hour_counts *find_hour(const struct hour_table *t,
						  int64_t hour)
{
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++)
		if (t->items[i].hour == hour)
			return &t->items[i];
	return NULL;
}

#endif
