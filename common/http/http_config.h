/* http_config.h - section `http` of the configuration. */
#ifndef COMMON_HTTP_HTTP_CONFIG_H
#define COMMON_HTTP_HTTP_CONFIG_H

#include <stdint.h>

#include "common/config/setting.h"

/* Limits and timeouts; the `http` section of the configuration. */
struct http_config {
	int64_t max_header_bytes; /* request line and headers: 431 or 414 beyond
				   */
	int64_t max_headers;	  /* header lines of a request: 431 beyond */
	int64_t max_body_bytes;	  /* 413 beyond */
	int64_t max_connections;  /* per listener; beyond: the connection that
				     has been idle longest is closed, or else 503
				   */
	int64_t max_buffer_bytes; /* per listener, of all requests that outgrew
				     their first buffer: 503 beyond; a single
				     one may always have max_body_bytes */
	int64_t header_timeout;	  /* ms to the end of the headers: 408; to the
				     very first byte: closed */
	int64_t body_timeout;  /* ms to the end of the body, or to the next byte
				* of a streamed one: 408 */
	int64_t idle_timeout;  /* ms between requests: closed */
	int64_t write_timeout; /* ms without progress while sending */
};
extern const struct setting_section http_section;

/* The defaults of that section, for listeners made without a file. */
extern const struct http_config http_config_default;

#endif
