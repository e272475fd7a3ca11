/*
 * findings.h - what does not agree: the first many of them by offset, the
 * number of all.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_FINDINGS_H
#define COLLECTOR_TOOLS_VERIFY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum finding_kind {
	FINDING_MISSING,    /* Kafka holds it, nobody has it */
	FINDING_TWICE,	    /* stored more than once */
	FINDING_UNKNOWN,    /* stored, but Kafka never had it */
	FINDING_ROWS_GONE,  /* reported as stored, and not there */
	FINDING_UNREPORTED, /* Kafka dropped it, and nobody reported it */
	FINDING_NOT_READ,   /* reported as lost */
	FINDING_UNREADABLE, /* Kafka holds it, nobody can read it */
	FINDING_OTHER,	    /* Kafka has another event there than was stored */
	FINDING_REREAD,	    /* stored in an earlier epoch, too */
	FINDING_KINDS,
};

/* "missing", and a line of what that means. */
const char *finding_name(enum finding_kind kind);
const char *finding_text(enum finding_kind kind);

struct finding {
	enum finding_kind kind;
	uint32_t partition, epoch;
	uint64_t first, last; /* offsets */
	uint64_t events; /* that it is about: all from first to last, or less */
};

/* All zero to begin with, but for `max`. */
struct findings {
	size_t max; /* named one by one */
	struct finding *list;
	size_t count, room;
	uint64_t events[FINDING_KINDS]; /* of all */
	uint64_t unnamed;		/* those beyond `max` */
};

void findings_release(struct findings *f);

/* Adds a finding.  One that goes on where the last one ended is joined with it.
 */
int findings_note(struct findings *f, const struct finding *finding,
		  struct error *err);

/* Whether another one would be named. */
bool findings_have_room(const struct findings *f);
uint64_t findings_events(const struct findings *f);

#endif
