/*
 * access_client.h - whose visit a line tells of.
 *
 * Addresses are read in all forms that logs have: bare, with a port, in
 * brackets, in quotes, with a zone ("fe80::1%eth0"), mapped (::ffff:1.2.3.4),
 * and as the nodes of Forwarded (RFC 7239).  "-", "unknown", "_hidden" and
 * sockets ("unix:") are words for "none".
 *
 * Of a header that proxies append to the client is the first address that is
 * not private (10.0.0.1 is a client's own network), or else the first; unless
 * it is known which proxies there are: then it is read as the redirector reads
 * it (common/client_address.h).
 */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_CLIENT_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_CLIENT_H

#include "collector/tools/access_log/access_visit.h"
#include "common/error.h"

/*
 * Fills ip, ip_len and odd_client of *v.  ACCESS_CLIENT comes before
 * ACCESS_FORWARDED, and that before ACCESS_ADDRESS.  ERROR_INPUT when the last
 * is no address and no word for none.
 */
int access_client_read(const struct access_fields *fields,
		       const struct access_rules *rules, struct access_visit *v,
		       struct error *err);

#endif
