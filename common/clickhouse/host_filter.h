/*
 * host_filter.h - the SQL that finds the links of the archive which lead to a
 * host, by their URL or by one of their targets: conditions on the table links.
 *
 * The host is a listed domain in its one form (common/domain_list.h).  It is
 * the parameter {url_host:String}, and the value of host_filter_put_names is
 * {url_host_domains:Array(String)}.
 */
#ifndef COMMON_CLICKHOUSE_HOST_FILTER_H
#define COMMON_CLICKHOUSE_HOST_FILTER_H

#include "common/buf.h"

/* Returns the condition itself. */
const char *host_filter_condition(const char *domain);

/* Returns a condition that follows from it, and that the index by_target_host
 * serves.  Below a public suffix there is no domain that an index could find;
 * then all rows are read. */
const char *host_filter_narrowing(const char *domain);

/* Appends the host's name and all names above it as an array.  Whichever of
 * them was the registrable domain when a row was written, it is one of
 * these. */
void host_filter_put_names(struct buf *out, const char *domain);

#endif
