/*
 * audit.h - the audit: who changed what, when and from where, as one JSON
 * object a line for each change that was answered as done.
 *
 *	{"time":"2026-11-21T09:30:00.125Z","action":"changed","key":"crm",
 *	 "client":"10.0.0.7","forwarded_for":null,"request_id":"7f3a",
 *	 "code":"kYq3ZtB","link_id":"288234774198222848","space":"s7",
 *	 "owner":"ann","account":"crm","changes":{"url":{"old":"https://a.example/",
 *	 "new":"https://b.example/"}}}
 *
 * A moderator's decision on a URL without a link is
 *
 *	{"time":...,"action":"url_blocked" or
 *	 "url_lifted","key":...,"client":...,
 *	 "forwarded_for":...,"request_id":...,"account":"crm",
 *	 "url":"https://a.example/","url_id":"<32 hexadecimal digits>"}
 *
 * `changes` has the fields whose value changed; for a created link, all fields
 * that it has (`old` is null).  User and password in a URL are written as ***.
 * `client` is the TCP peer; `forwarded_for` is the peer's claim
 * (X-Forwarded-For), to be trusted as far as the peer is.  If a create is sent
 * again before its first answer is known, it has two lines.
 *
 * Changes never wait for a disk (line_file.h).  While the file cannot be
 * written, lines wait in memory, and /readyz says why.  If lines are lost then,
 * a line of its own ("action":"lost") reports it as soon as the file can be
 * written again.  Links are created all the while.  If a change without an
 * audit line is worse than no change, take the allocator out of service by its
 * /readyz.
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
	int64_t queue_bytes; /* limit for lines that wait for the file */
	struct log *log;
	struct health *health;
	struct metrics *metrics;
};

/* Returns ERROR_CONFIG for a file that cannot be opened.  Starts a thread. */
struct audit *audit_new(const struct audit_options *options, struct error *err);
/* Waits until all queued lines are written, timeout_ms at most.  Lines that are
 * left then are lost, which is logged.  NULL accepted. */
void audit_free(struct audit *audit, int64_t timeout_ms);

/* Reopens the file soon, after it was moved away (SIGHUP). */
void audit_reopen(struct audit *audit);

/* Returns the source of a request, which must not be answered yet.  `key` is
 * kept, not copied.  A batch uses one source for all its lines. */
struct audit_source audit_source_of(const struct http_request *req,
				    const char *key);

/* Call it when the change is in Redis. */
void audit_link(struct audit *audit, enum audit_action action,
		const struct audit_entry *entry);

void audit_url(struct audit *audit, const struct audit_url_entry *entry);

/* Writes that the keys file was read again and that it has `keys` keys now. */
void audit_keys_reloaded(struct audit *audit, size_t keys);

#endif
