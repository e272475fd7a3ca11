/* request.h - reads the parts of a request; for handlers. */
#ifndef COMMON_HTTP_REQUEST_H
#define COMMON_HTTP_REQUEST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct http_slice {
	const char *data; /* not NUL-terminated */
	size_t len;
};

struct http_header {
	struct http_slice name; /* as sent; compare without case */
	struct http_slice value;
};

struct http_request;

struct http_slice http_method(const struct http_request *req); /* "GET" */
/* Returns 0 or 1, the minor version of HTTP/1. */
unsigned http_minor_version(const struct http_request *req);
bool http_method_is(const struct http_request *req, const char *method);
/* These are as sent, undecoded: path without the query; query without the '?'.
 * The path starts with '/', or is "*" (OPTIONS). */
struct http_slice http_path(const struct http_request *req);
struct http_slice http_query(const struct http_request *req);
struct http_slice http_body(const struct http_request *req);
/* Returns the host that the request is for: the target's, if it names one, or
 * that of the header Host; or {NULL, 0}. */
struct http_slice http_host(const struct http_request *req);
/* Returns the first header of that name, or {NULL, 0}.  Host is that of the
 * target, if it names one; if there is no such header, only http_host returns
 * it. */
struct http_slice http_header_get(const struct http_request *req,
				  const char *name);
size_t http_header_count(const struct http_request *req);
struct http_header http_header_at(const struct http_request *req, size_t i);
/* Finds the next header of that name, ignoring case, from the *at-th on; *at is
 * then the index after it.  Returns false if there is none. */
bool http_header_next(const struct http_request *req, const char *name,
		      size_t *at, struct http_slice *ret);
/* Returns true if that is the request's Content-Type, ignoring case and
 * parameters. */
bool http_type_is(const struct http_request *req, const char *type);
/* Returns the value of a cookie (names are case-sensitive), without quotes, or
 * {NULL, 0}. */
struct http_slice http_cookie_get(const struct http_request *req,
				  const char *name);
/* Returns the address of the TCP peer, or the one that its PROXY header named
 * (not that of X-Forwarded-For); IPv4 as AF_INET.  AF_UNIX: a peer at a Unix
 * socket. */
const struct sockaddr_storage *http_peer(const struct http_request *req);

/*
 * Calls fn(arg) once, on the loop's thread, when the client goes or closes its
 * side before it is answered, or the listener is freed, so that work for it
 * elsewhere can be ended.  Call it within the handler of a request that is not
 * streamed; `fn` may not answer.  The reply must still be given, and reaches
 * only clients that have merely closed their side; after it `fn` is not called.
 */
void http_on_client_gone(struct http_request *req, void (*fn)(void *arg),
			 void *arg);

/* Comparisons with a C string; the second ignores ASCII case. */
bool http_slice_is(struct http_slice slice, const char *text);
bool http_slice_is_nocase(struct http_slice slice, const char *text);
/* Returns the slice without the spaces and tabs around it. */
struct http_slice http_slice_trim(struct http_slice slice);
/* Cuts everything before the first `separator`, or all, off the front of
 * `rest`, and trims it: a member of a list (RFC 9110, 5.6.1). */
struct http_slice http_slice_cut(struct http_slice *rest, char separator);

/*
 * Returns true if that is the name of the header, ignoring case.  For hot
 * paths: `name` has to be a token, as those of http_header_at are, and `text` a
 * literal of lower case letters, digits and hyphens.
 */
static inline bool http_name_is(struct http_slice name, const char *text)
{
	/* The bit distinguishes the cases of a letter, and is set in digits and
	 * hyphens; other characters that it would change to one of these are in
	 * no token. */
	const char case_bit = 0x20;
	size_t len = strlen(text);
	unsigned differs = 0;

	if (name.len != len)
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned)((name.data[i] | case_bit) ^ text[i]);
	return !differs;
}

#endif
