/*
 * table.h - prints a table for people: columns as wide as their widest cell,
 * text on the left, numbers on the right with separated thousands.
 */
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stdint.h>
#include <stdio.h>

struct table;

/* `columns`: headings, separated by '|'; a heading that begins with '>' is of a
 * column of numbers.  Out of memory is reported by table_print. */
struct table *table_new(const char *columns);
void table_free(struct table *t); /* NULL accepted */

/* Cells come row by row, from left to right.  A NULL table ignores them. */
void table_text(struct table *t, const char *text);
void table_number(struct table *t, uint64_t number);
/* Prints one digit after the point. */
void table_decimal(struct table *t, double number);

/* Returns -1 if out of memory. */
int table_print(const struct table *t, FILE *out);

#endif
