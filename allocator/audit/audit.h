/*
 * audit.h - who changed what, when and from where: one JSON object a line, for
 * each change that was answered as done.
 *
 *	{"time":"2026-11-21T09:30:00.125Z","action":"changed","key":"crm",
 *	 "client":"10.0.0.7","forwarded_for":null,"request_id":"7f3a",
 *	 "code":"kYq3ZtB","link_id":"288234774198222848","space":"s7",
 *	 "owner":"ann","account":"crm","changes":{"url":{"old":"https://a.example/",
 *	 "new":"https://b.example/"}}}
 *
 * What a moderator decides of a URL by itself is
 *
 *	{"time":...,"action":"url_blocked" or
 *"url_lifted","key":...,"client":...,
 *	 "forwarded_for":...,"request_id":...,"account":"crm",
 *	 "url":"https://a.example/","url_id":"<32 hexadecimal digits>"}
 *
 * `changes` has the fields that are not as they were; of a link that was
 * created all that it has (`old` is null).  What stands before the @ of a URL
 * is written as ***.  `client` is the TCP peer; `forwarded_for` is what it
 * claims (X-Forwarded-For), which is only as true as the peer is trusted.  A
 * create that is sent again before its first answer is known has a line twice.
 *
 * No change ever waits for a disk (line_file.h).  While the file cannot be
 * written, lines wait in memory, and /readyz says why.  Lines that are lost
 * then are told by a line of their own ("action":"lost") once it can be written
 * again.  Creating goes on all the while: where a change without an audit line
 * is worse than none, take the allocator out of service by its /readyz.
 *
 * Thread-safe; a NULL audit writes nothing.
 */
#ifndef ALLOCATOR_AUDIT_AUDIT_H
#define ALLOCATOR_AUDIT_AUDIT_H

#include "allocator/audit/audit_line.h"
#include "common/app/health.h"
#include "common/http/http_server.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct audit;

struct audit_options {
	const char *path;    /* opened for appending, made with mode 0640 */
	int64_t queue_bytes; /* of lines that wait for the file */
	struct log *log;
	struct health *health;
	struct metrics *metrics;
};

/* A file that cannot be opened is ERROR_CONFIG.  Starts a thread. */
struct audit *audit_new(const struct audit_options *options, struct error *err);
/* Waits until what is queued is written, timeout_ms at most; what is left then
 * is lost and logged.  NULL accepted. */
void audit_free(struct audit *audit, int64_t timeout_ms);

/* Opens the file anew, soon: it has been moved away (SIGHUP). */
void audit_reopen(struct audit *audit);

/* Of a request, which must not be answered yet; `key` is kept, not copied.  A
 * batch makes one for all its lines. */
struct audit_source audit_source_of(const struct http_request *req,
				    const char *key);

/* Call it once the change is in Redis. */
void audit_link(struct audit *audit, enum audit_action action,
		const struct audit_entry *entry);

void audit_url(struct audit *audit, const struct audit_url_entry *entry);

/* The keys file was read again, and has so many keys now. */
void audit_keys_reloaded(struct audit *audit, size_t keys);

#endif
