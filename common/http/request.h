/* request.h - what handlers ask of a request. */
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
/* 0 or 1, of HTTP/1. */
unsigned http_minor_version(const struct http_request *req);
bool http_method_is(const struct http_request *req, const char *method);
/* As sent, undecoded: path without the query; query without the '?'.  The path
 * starts with '/', or is "*" (OPTIONS). */
struct http_slice http_path(const struct http_request *req);
struct http_slice http_query(const struct http_request *req);
struct http_slice http_body(const struct http_request *req);
/* Whom the request is for: the target's host, if it names one, or the header
 * Host; or {NULL, 0}. */
struct http_slice http_host(const struct http_request *req);
/* The first header of that name, or {NULL, 0}.  Host is that of the target, if
 * it names one; http_host has it where there is no such header, too. */
struct http_slice http_header_get(const struct http_request *req,
				  const char *name);
size_t http_header_count(const struct http_request *req);
struct http_header http_header_at(const struct http_request *req, size_t i);
/* The next header of that name, whatever its case, from the *at-th on, which is
 * then behind it.  False: there is none. */
bool http_header_next(const struct http_request *req, const char *name,
		      size_t *at, struct http_slice *ret);
/* Is that the request's Content-Type, whatever its case and parameters? */
bool http_type_is(const struct http_request *req, const char *type);
/* The value of a cookie (names have case), without quotes, or {NULL, 0}. */
struct http_slice http_cookie_get(const struct http_request *req,
				  const char *name);
/* The address of the TCP peer, or whom its PROXY header named (not that of
 * X-Forwarded-For); IPv4 as AF_INET.  AF_UNIX: a peer at a Unix socket. */
const struct sockaddr_storage *http_peer(const struct http_request *req);

/* True when nobody waits for the answer any more: dear work can be skipped.
 * The reply must still be given. */
bool http_client_gone(const struct http_request *req);

/*
 * Calls fn(arg) once, on the loop's thread, when the client goes or closes its
 * side before it is answered, or the listener is freed: so that what is done
 * for it elsewhere can be ended.  To be called within the handler, of a request
 * that is not streamed; `fn` may not answer.  The reply must still be given,
 * and reaches such as have closed their side only; after it `fn` is not called.
 */
void http_on_client_gone(struct http_request *req, void (*fn)(void *arg),
			 void *arg);

/* Comparisons with a C string; the second ignores ASCII case. */
bool http_slice_is(struct http_slice slice, const char *text);
bool http_slice_is_nocase(struct http_slice slice, const char *text);
/* Without the spaces and tabs around it. */
struct http_slice http_slice_trim(struct http_slice slice);
/* Cuts what stands before the first `separator`, or all, off the front of
 * `rest`, and trims it: a member of a list (RFC 9110, 5.6.1). */
struct http_slice http_slice_cut(struct http_slice *rest, char separator);

/*
 * Is that the name of a header, whatever its case?  For hot paths: `name` has
 * to be a token, as those of http_header_at are, and `text` a literal of lower
 * case letters, digits and hyphens.
 */
static inline bool http_name_is(struct http_slice name, const char *text)
{
	/* The bit tells the cases of a letter apart, and is set in a digit and
	 * a hyphen; what else it would make one of these is in no token. */
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
