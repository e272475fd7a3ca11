/* csv.h - text as a field of CSV (RFC 4180). */
#ifndef AGGREGATOR_API_CSV_H
#define AGGREGATOR_API_CSV_H

#include "common/buf.h"

/*
 * Appends a field.  It is quoted, with its quotes doubled, where necessary;
 * also for semicolons and tabs, which some readers take as the separator.
 * Referrers, campaigns and the like are text from strangers: a single quote
 * before text that a spreadsheet takes for the start of a formula (OWASP, CSV
 * injection) keeps the spreadsheet from running it.
 */
void csv_put_text(struct buf *out, const char *text);

#endif
