/* check.h - what llhttp lets pass, and must not. */
#ifndef COMMON_HTTP_CHECK_H
#define COMMON_HTTP_CHECK_H

#include <stddef.h>

#include "common/http/types.h"

/* Notes why the request is refused; the first reason stays.  Returns -1. */
int request_refuse(struct http_request *req, int status, const char *detail);
/* Checks the finished header block and sets header_len and expects. */
int check_headers(struct http_request *req);
/* Checks the next bytes of the trailer, and a part of a field's name in it. */
int check_trailer(struct http_request *req, const char *bytes, size_t len);
int check_trailer_name(struct http_request *req, const char *name, size_t len);

#endif
