/*
 * live_event.h - a click of the topic kafka.topic_live, as those who look on
 * are sent it.
 *
 * Whoever may write the topic writes these bytes: what is sent on is made anew
 * of the members that are known here (docs/aggregator.md, "Live"), each of its
 * type.  Others are dropped.
 *
 * Shared by the loops of all subscribers; only read once it is handed out.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_EVENT_H
#define AGGREGATOR_API_LIVE_LIVE_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/question.h"
#include "common/error.h"

/* A longer record is none of ours. */
#define LIVE_EVENT_MAX 16384

/* Whose a link is, by the archive. */
struct link_owner {
	char *account, *owner;
};

struct live_event {
	atomic_uint refs;
	uint64_t link_id;
	bool human;
	const char *owner, *domain, *country, *verdict;
	/* For those who do not see all links, who get it once this is known. */
	struct link_owner whose;
	/* As server-sent events have it, the blank line included. */
	const char *text;
	size_t len;
	char data[]; /* what these point to */
};

/* NULL: ERROR_INPUT says what is wrong.  Release with live_event_release. */
struct live_event *live_event_parse(const void *record, size_t len,
				    struct error *err);
struct live_event *live_event_share(struct live_event *e);
void live_event_release(struct live_event *e); /* NULL accepted */

/* Copies it; `to` holds nothing yet.  False: out of memory. */
bool link_owner_copy(struct link_owner *to, const char *account,
		     const char *owner);
void link_owner_release(struct link_owner *o);

/* Does somebody who asks that want to see it? */
bool live_event_matches(const struct live_event *e, const struct question *q);

#endif
