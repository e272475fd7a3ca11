/* csv.h - text as a field of CSV (RFC 4180). */
#ifndef AGGREGATOR_API_CSV_H
#define AGGREGATOR_API_CSV_H

#include "common/buf.h"

/*
 * Appends a field: in quotes, and quotes doubled, where it must be; semicolons
 * and tabs too, which are the separator to some readers.  Referrers, campaigns
 * and the like are what strangers wrote: a single quote before what a
 * spreadsheet takes for the start of a formula (OWASP, CSV injection) keeps it
 * from running that.
 */
void csv_put_text(struct buf *out, const char *text);

#endif
