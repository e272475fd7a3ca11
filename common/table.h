/*
 * table.h - a table for people: columns as wide as their widest cell, text on
 * the left, numbers on the right with their thousands apart.
 */
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stdint.h>
#include <stdio.h>

struct table;

/* `columns`: headings, separated by '|'; one that begins with '>' is of a
 * column of numbers.  Memory that runs out shows in table_print. */
struct table *table_new(const char *columns);
void table_free(struct table *t); /* NULL accepted */

/* Cells come row by row, from left to right.  A NULL table takes none. */
void table_text(struct table *t, const char *text);
void table_number(struct table *t, uint64_t number);
/* With one digit after the point. */
void table_decimal(struct table *t, double number);

/* -1: memory ran out. */
int table_print(const struct table *t, FILE *out);

#endif
