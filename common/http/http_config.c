#include "common/http/http_config.h"

#include <stddef.h>

#define MEMBER(m) offsetof(struct http_config, m)

static const struct setting settings[] = {
	{.key = "max_header_bytes",
	 .type = SETTING_SIZE,
	 .offset = MEMBER(max_header_bytes),
	 .fallback = "16KiB",
	 .help = "Longest request line and headers together; 431 beyond.",
	 .min = 1024,
	 .max = 1024 * 1024},
	{.key = "max_headers",
	 .type = SETTING_INT,
	 .offset = MEMBER(max_headers),
	 .fallback = "100",
	 .help = "Most header lines in a request; 431 beyond.",
	 .min = 8,
	 .max = 1000},
	{.key = "max_body_bytes",
	 .type = SETTING_SIZE,
	 .offset = MEMBER(max_body_bytes),
	 .fallback = "8MiB",
	 .help = "Longest request body; 413 beyond.  Bodies that are streamed "
		 "are not bounded.",
	 .max = INT64_C(1) << 30},
	{.key = "max_connections",
	 .type = SETTING_INT,
	 .offset = MEMBER(max_connections),
	 .fallback = "10000",
	 .help = "Most open connections per thread; 503 beyond.",
	 .min = 1,
	 .max = 10000000},
	{.key = "max_buffer_bytes",
	 .type = SETTING_SIZE,
	 .offset = MEMBER(max_buffer_bytes),
	 .fallback = "256MiB",
	 .help = "Memory for all request bodies of a thread together; 503 "
		 "beyond.",
	 .min = 0,
	 .max = INT64_C(1) << 40},
	{.key = "header_timeout",
	 .type = SETTING_DURATION,
	 .offset = MEMBER(header_timeout),
	 .fallback = "10s",
	 .help = "From a request's first byte to the end of its headers; "
		 "408 beyond.",
	 .min = 1,
	 .max = 3600 * 1000},
	{.key = "body_timeout",
	 .type = SETTING_DURATION,
	 .offset = MEMBER(body_timeout),
	 .fallback = "60s",
	 .help = "From the end of the headers to the end of the body, or to "
		 "the next byte of a body that is streamed; 408 beyond.",
	 .min = 1,
	 .max = 3600 * 1000},
	{.key = "idle_timeout",
	 .type = SETTING_DURATION,
	 .offset = MEMBER(idle_timeout),
	 .fallback = "75s",
	 .help = "How long a connection may stay open between requests.",
	 .min = 1,
	 .max = 24 * 3600 * 1000},
	{.key = "write_timeout",
	 .type = SETTING_DURATION,
	 .offset = MEMBER(write_timeout),
	 .fallback = "30s",
	 .help = "How long a client may take no byte of its answer.",
	 .min = 1,
	 .max = 3600 * 1000},
	{0},
};

const struct setting_section http_section = {
	.name = "http",
	.help = "Bounds of every HTTP listener, the admin listeners included.",
	.settings = settings,
};

const struct http_config http_config_default = {
	.max_header_bytes = 16 * 1024,
	.max_headers = 100,
	.max_body_bytes = 8 * 1024 * 1024,
	.max_connections = 10000,
	.max_buffer_bytes = 256 * 1024 * 1024,
	.header_timeout = 10 * 1000,
	.body_timeout = 60 * 1000,
	.idle_timeout = 75 * 1000,
	.write_timeout = 30 * 1000,
};
