#include "common/http/http_config.h"

#include "common/clock.h"

#define SETTING_STRUCT struct http_config
static const struct setting settings[] = {
	SETTING_SIZE(max_header_bytes, "16KiB", 1024, 1024 * 1024, AT_START,
		     "Longest request line and headers together; 431 beyond, "
		     "414 where the line alone is."),
	SETTING_INT(max_headers, "100", 8, 1000, AT_START,
		    "Most header lines in a request; 431 beyond."),
	SETTING_SIZE(max_body_bytes, "8MiB", 0, INT64_C(1) << 30, AT_START,
		     "Longest request body; 413 beyond.  Bodies that are "
		     "streamed are not bounded."),
	SETTING_INT(max_connections, "10000", 1, 10000000, AT_START,
		    "Most open connections per thread; the one that has been "
		    "idle longest makes room for another, and where none is "
		    "idle that is a 503."),
	SETTING_SIZE(max_buffer_bytes, "256MiB", 0, INT64_C(1) << 40, AT_START,
		     "Memory for all request bodies of a thread together; 503 "
		     "beyond."),
	SETTING_DURATION(
		header_timeout, "10s", 1, CLOCK_HOUR, AT_START,
		"From a request's first byte to the end of its "
		"headers; 408 beyond.  Also from a connection's start to "
		"its first byte, and to the end of its PROXY header."),
	SETTING_DURATION(
		body_timeout, "60s", 1, CLOCK_HOUR, AT_START,
		"From the end of the headers to the end of the body, or to the "
		"next byte of a body that is streamed; 408 beyond."),
	SETTING_DURATION(
		idle_timeout, "75s", 1, CLOCK_DAY, AT_START,
		"How long a connection may stay open between requests."),
	SETTING_DURATION(write_timeout, "30s", 1, CLOCK_HOUR, AT_START,
			 "How long a client may take no byte of its answer."),
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
