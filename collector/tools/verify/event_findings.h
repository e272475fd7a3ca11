/*
 * event_findings.h - the list of findings: the first ones by offset, and the
 * count of all.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_EVENT_FINDINGS_H
#define COLLECTOR_TOOLS_VERIFY_EVENT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum event_finding_kind {
	FINDING_MISSING,    /* in Kafka, but not stored anywhere */
	FINDING_TWICE,	    /* stored more than once */
	FINDING_UNKNOWN,    /* stored, but never in Kafka */
	FINDING_ROWS_GONE,  /* reported as stored, but without a row */
	FINDING_UNREPORTED, /* dropped by Kafka and never reported */
	FINDING_NOT_READ,   /* reported as lost */
	FINDING_UNREADABLE, /* in Kafka, but unreadable */
	FINDING_OTHER,	    /* Kafka has another event at this offset */
	FINDING_REREAD,	    /* also stored in an earlier epoch */
	FINDING_KINDS,
};

/* Returns "missing" etc., or a line that explains it. */
const char *event_finding_name(enum event_finding_kind kind);
const char *event_finding_text(enum event_finding_kind kind);

struct event_finding {
	enum event_finding_kind kind;
	uint32_t partition, epoch;
	uint64_t first, last; /* offsets */
	uint64_t events; /* number of events, at most all from first to last */
};

/* Initialise it with zeros, except `max`. */
struct event_findings {
	size_t max; /* limit of the findings in the list */
	struct event_finding *list;
	size_t count, room;
	/* Number of events, over all findings. */
	uint64_t events[FINDING_KINDS];
	uint64_t unnamed; /* number of findings beyond `max` */
};

void event_findings_release(struct event_findings *f);

/* Adds a finding.  One that directly follows the last finding is joined with
 * it. */
int event_findings_note(struct event_findings *f,
			const struct event_finding *finding, struct error *err);

/* Returns whether another finding would be listed. */
bool event_findings_have_room(const struct event_findings *f);
uint64_t event_findings_events(const struct event_findings *f);

#endif
