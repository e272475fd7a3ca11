/* link_reading.h - one field being read.  For allocator/link/ only. */
#ifndef ALLOCATOR_LINK_LINK_READING_H
#define ALLOCATOR_LINK_LINK_READING_H

#include "allocator/link/link_fields.h"

struct link_reading {
	struct link_fields *fields;
	const struct link_rules *rules;
	const char *name;
	json_t *value;
};

/* "name: expected ...".  Returns -1. */
int link_reading_refuse(const struct link_reading *r, const char *expected,
			struct error *err);

int link_reading_url(struct link_reading *r, struct error *err);
int link_reading_targets(struct link_reading *r, struct error *err);

#endif
