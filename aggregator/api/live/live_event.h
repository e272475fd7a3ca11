/*
 * live_event.h - a click of the topic kafka.topic_live, in the form that
 * subscribers are sent.
 *
 * Any client that may write the topic writes these bytes.  So the text to send
 * is made anew from the members that are known here (docs/aggregator.md,
 * "Live"), each of its type.  Other members are dropped.
 *
 * The loops of all subscribers share an event; it is only read once it is
 * handed out.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_EVENT_H
#define AGGREGATOR_API_LIVE_LIVE_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/statistics/question.h"
#include "common/error.h"

/* A longer record is no live event. */
#define LIVE_EVENT_MAX 16384

/* The account and owner of a link, by the archive. */
struct link_owner {
	char *account, *owner;
};

struct live_event {
	atomic_uint refs;
	uint64_t link_id;
	bool human;
	const char *account, *owner, *domain, *country, *verdict;
	/* The owner, for subscribers that do not see all links.  They get the
	 * event once it is known. */
	struct link_owner whose;
	/* The event as server-sent events have it, the blank line included. */
	const char *text;
	size_t len;
	char data[]; /* the memory of these texts */
};

/* Returns NULL for an invalid record: ERROR_INPUT says what is wrong.  Release
 * with live_event_release. */
struct live_event *live_event_parse(const void *record, size_t len,
				    struct error *err);
struct live_event *live_event_share(struct live_event *e);
void live_event_release(struct live_event *e); /* NULL accepted */

/* Copies both texts; `to` holds nothing yet.  False: out of memory. */
bool link_owner_copy(struct link_owner *to, const char *account,
		     const char *owner);
void link_owner_release(struct link_owner *o);

/* Returns whether the event matches the question. */
bool live_event_matches(const struct live_event *e, const struct question *q);

#endif
