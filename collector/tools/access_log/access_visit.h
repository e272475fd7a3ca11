/* access_visit.h - what a line of an access log says. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_VISIT_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/network_list.h"

struct access_text {
	const char *data; /* not NUL-terminated */
	size_t len;
};

/* What can be read out of a line; everything else is passed over. */
enum access_field {
	ACCESS_ADDRESS,	  /* who was connected */
	ACCESS_FORWARDED, /* X-Forwarded-For, Forwarded, X-Real-IP */
	ACCESS_CLIENT,	  /* the same by who knows: CF-Connecting-IP ... */
	ACCESS_TIME,
	ACCESS_DATE,	/* the day, when TIME is the time of the day */
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

/* As they stand in the line; absent ones ("-" too) are empty, but a status. */
struct access_fields {
	struct access_text texts[ACCESS_FIELD_COUNT];
};

/* How lines are to be understood; zeros are the defaults. */
struct access_rules {
	/* The client is who was connected, whatever else a line says. */
	bool peer_only;
	/* NULL: what a proxy said is read from the left; else as the redirector
	 * reads it, from the right. */
	const struct network_list *proxies;
	/* What stands in place of an address and is none ("host.example") makes
	 * a visit without an address, rather than an unreadable line. */
	bool any_address;
	/* Times that name no zone are of TZ, rather than UTC. */
	bool local_times;
};

struct access_visit {
	int64_t time_ms; /* UTC */
	uint8_t ip[16];
	size_t ip_len; /* 4 or 16; 0: the log has no address */
	/* What was to name the client and is no address, so that who was
	 * connected was taken; empty: nothing. */
	struct access_text odd_client;
	struct access_text method;
	struct access_text path;  /* empty: what was asked was no request */
	struct access_text query; /* without its question mark */
	unsigned status;	  /* 0: the log does not say, or: */
	bool unanswered;	  /* it says that there was no answer */
	struct access_text referrer;
	struct access_text user_agent;
	struct access_text language;
	struct access_text host;
	struct access_text purpose;
};

/*
 * Makes sense of the fields of a line.  Texts point into them.  `pattern`: see
 * access_time_read.  ERROR_INPUT without a time, when a status is no number, or
 * when who was connected is no address.
 */
int access_visit_read(const struct access_fields *fields, const char *pattern,
		      const struct access_rules *rules,
		      struct access_visit *ret_visit, struct error *err);

#endif
