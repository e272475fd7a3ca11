/* access_visit.h - what a line of an access log says. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_VISIT_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_VISIT_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct access_text {
	const char *data; /* not NUL-terminated */
	size_t len;
};

/* What can be read out of a line; everything else is passed over. */
enum access_field {
	ACCESS_ADDRESS,
	ACCESS_TIME,
	ACCESS_REQUEST, /* "GET /abc?x=y HTTP/1.1" */
	ACCESS_METHOD,
	ACCESS_URI, /* path, perhaps with its query */
	ACCESS_QUERY,
	ACCESS_STATUS,
	ACCESS_REFERRER,
	ACCESS_USER_AGENT,
	ACCESS_LANGUAGE,
	ACCESS_HOST,
	ACCESS_PURPOSE, /* Sec-Purpose and its elders */
	ACCESS_FIELD_COUNT,
	ACCESS_PASSED = ACCESS_FIELD_COUNT
};

/* As they stand in the line; absent ones ("-" too) are empty. */
struct access_fields {
	struct access_text texts[ACCESS_FIELD_COUNT];
};

struct access_visit {
	int64_t time_ms; /* UTC */
	uint8_t ip[16];
	size_t ip_len; /* 4 or 16; 0: the log has no address */
	struct access_text method;
	struct access_text path;  /* empty: what was asked was no request */
	struct access_text query; /* without its question mark */
	unsigned status;	  /* 0: the log does not say */
	struct access_text referrer;
	struct access_text user_agent;
	struct access_text language;
	struct access_text host;
	struct access_text purpose;
};

/*
 * Makes sense of the fields of a line.  Texts point into them.  `pattern`: see
 * access_time_read.  ERROR_INPUT without a time, or when a status is no number.
 */
int access_visit_read(const struct access_fields *fields, const char *pattern,
		      struct access_visit *ret_visit, struct error *err);

#endif
