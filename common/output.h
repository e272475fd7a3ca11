/* output.h - what commands end in: a table or a JSON object on stdout. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include <jansson.h>

#include "common/error.h"
#include "common/table.h"

/* Both print and free.  NULL is one for which memory ran out. */
int output_table(struct table *t, struct error *err);
int output_json(json_t *root, struct error *err);

#endif
