/* check.h - rejects what llhttp accepts and must not. */
#ifndef COMMON_HTTP_CHECK_H
#define COMMON_HTTP_CHECK_H

#include <stddef.h>

#include "common/http/types.h"

/* Records why the request is refused; the first reason stays.  Returns -1. */
int request_refuse(struct http_request *req, int status, const char *detail);
/* tchar of RFC 9110, 5.6.2: the characters of header names. */
extern const bool check_tchars[256];

static inline bool check_is_tchar(char c)
{
	return check_tchars[(unsigned char)c];
}

/* Checks the finished header block and sets header_len, expects and
 * keep_alive. */
int check_headers(struct http_request *req);
/* Refuses a header block of which more than max_header_bytes have arrived; with
 * 414 if its first line alone is too long. */
int check_too_long(struct http_request *req);
/* Returns true for a host with or without a port (RFC 9110, 7.2).  Both may be
 * empty. */
bool check_host(struct http_slice host);
bool check_is_token(const char *text, size_t len);
/* Checks the next bytes of the trailer, and a part of a field's name in it. */
int check_trailer(struct http_request *req, const char *bytes, size_t len);
int check_trailer_name(struct http_request *req, const char *name, size_t len);

#endif
