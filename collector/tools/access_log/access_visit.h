/* access_visit.h - a visit read from a line of an access log. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_VISIT_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"
#include "common/network_list.h"

struct access_text {
	const char *data; /* not NUL-terminated */
	size_t len;
};

static inline bool access_text_is(struct access_text t, const char *word)
{
	return t.len == strlen(word) && !memcmp(t.data, word, t.len);
}

/* The fields that are read from a line; all others are skipped. */
enum access_field {
	ACCESS_ADDRESS,	  /* the connected peer */
	ACCESS_FORWARDED, /* X-Forwarded-For, Forwarded, X-Real-IP */
	/* Client from a trusted source: CF-Connecting-IP ... */
	ACCESS_CLIENT,
	ACCESS_TIME,
	ACCESS_DATE,	/* the day, if TIME is the time of the day */
	ACCESS_REQUEST, /* "GET /abc?x=y HTTP/1.1" */
	ACCESS_METHOD,
	ACCESS_URI, /* path, with or without its query */
	ACCESS_QUERY,
	ACCESS_STATUS,
	ACCESS_REFERRER,
	ACCESS_USER_AGENT,
	ACCESS_LANGUAGE,
	ACCESS_HOST,
	ACCESS_PURPOSE, /* Sec-Purpose and its predecessors */
	ACCESS_FIELD_COUNT,
	ACCESS_PASSED = ACCESS_FIELD_COUNT
};

/* The texts of the line; absent ones (also "-") are empty, except for a
 * status. */
struct access_fields {
	struct access_text texts[ACCESS_FIELD_COUNT];
};

/* The rules for reading lines; zeros are the defaults. */
struct access_rules {
	/* The client is the connected peer, whatever else a line has. */
	bool peer_only;
	/* NULL: a proxy's header is read from the left; otherwise from the
	 * right, as the redirector does. */
	const struct network_list *proxies;
	/* A text in place of an address that is none ("host.example") makes a
	 * visit without an address, not an unreadable line. */
	bool any_address;
	/* Times without a zone are in TZ, not in UTC. */
	bool local_times;
};

struct access_visit {
	int64_t time_ms; /* UTC */
	uint8_t ip[16];
	size_t ip_len; /* 4 or 16; 0: the log has no address */
	/* A forwarded client that is no address, so that the connected peer was
	 * taken; empty: none. */
	struct access_text odd_client;
	struct access_text method;
	struct access_text path;  /* empty: the request had no path */
	struct access_text query; /* without its question mark */
	unsigned status;	  /* 0: the log has none, or: */
	bool unanswered;	  /* the log shows that there was no answer */
	struct access_text referrer;
	struct access_text user_agent;
	struct access_text language;
	struct access_text host;
	struct access_text purpose;
};

/*
 * Interprets the fields of a line.  Texts point into them.  `pattern`: see
 * access_time_read.  ERROR_INPUT without a time, when a status is no number, or
 * when the connected peer is no address.
 */
int access_visit_read(const struct access_fields *fields, const char *pattern,
		      const struct access_rules *rules,
		      struct access_visit *ret_visit, struct error *err);

#endif
