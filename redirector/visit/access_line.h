/*
 * access_line.h - an answered request as a line of an access log, which
 * `collector import` reads in the same way as the logs of other servers.
 *
 * Combined (Apache's, as nginx writes it):
 *
 *	192.0.2.7 - - [21/Nov/2026:01:02:03 +0000] "GET /aB3xY7k?a=1 HTTP/1.1"
 *	302 0 "https://from.example/" "agent/1.0"
 *
 * JSON, with the names of nginx's variables:
 *
 *	{"time_iso8601":"2026-11-21T01:02:03.456Z","remote_addr":"192.0.2.7",
 *	 "request_method":"GET","uri":"/aB3xY7k","args":"a=1",
 *	 "server_protocol":"HTTP/1.1","status":302,"body_bytes_sent":0,
 *	 "http_host":"sho.rt","http_referer":"https://from.example/",
 *	 "http_user_agent":"agent/1.0"}
 *
 * Text from a client cannot end a field or a line.  In combined, a quote, a
 * backslash and every byte that is not printable ASCII are written as \xNN, so
 * that the original bytes can be restored; in JSON a byte that is not valid
 * UTF-8 becomes a question mark.  An absent header is "-" in combined, and has
 * no member in JSON.
 */
#ifndef REDIRECTOR_VISIT_ACCESS_LINE_H
#define REDIRECTOR_VISIT_ACCESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http/http_server.h"
#include "common/ip.h"

struct access_entry {
	int64_t time_ms; /* since 1970 */
	struct address client;
	int status;
	size_t body_bytes; /* number sent */
	struct http_slice method, path, query;
	unsigned minor_version; /* n of HTTP/1.n */
	/* Headers; an absent one is {NULL, 0}. */
	struct http_slice host, referrer, user_agent, accept_language, prefetch;
};

/* Both append one line with its newline. */
void access_line_put_combined(struct buf *out,
			      const struct access_entry *entry);
void access_line_put_json(struct buf *out, const struct access_entry *entry);

#endif
