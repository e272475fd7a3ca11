/* link_choices.h - the values of fields that have only a few: one table to read
 * them by, and to list them for forms. */
#ifndef ALLOCATOR_LINK_LINK_CHOICES_H
#define ALLOCATOR_LINK_LINK_CHOICES_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/link.pb-c.h"

#define LINK_REDIRECT_STATUSES 4
#define LINK_QUERY_PASSES      3

extern const uint32_t link_redirect_statuses[LINK_REDIRECT_STATUSES];
extern const Shortloop__QueryPass link_query_passes[LINK_QUERY_PASSES];

/* Returns what comes before choice `i` of `count` in a sentence: "", ", " or
 * " or ". */
const char *link_choices_before(size_t i, size_t count);

#endif
