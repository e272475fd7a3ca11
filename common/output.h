/* output.h - prints the result of a command: a table or a JSON object on
 * stdout. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include <jansson.h>

#include "common/error.h"
#include "common/table.h"

/* Both print and free.  A NULL argument is reported as out of memory. */
int output_table(struct table *t, struct error *err);
int output_json(json_t *root, struct error *err);

#endif
