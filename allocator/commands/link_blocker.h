/*
 * link_blocker.h - blocks links that lead to a host, for a command: as an admin
 * would by PATCH, with event and audit line, on a loop of its own.
 *
 * A link that Redis has under the same link_id, and that still leads there, is
 * blocked; others are passed over.  A link that is blocked already is written
 * again only if that is requested: so it gets the event that it may lack.
 */
#ifndef ALLOCATOR_COMMANDS_LINK_BLOCKER_H
#define ALLOCATOR_COMMANDS_LINK_BLOCKER_H

#include <stdint.h>

#include "allocator/allocator_config.h"
#include "common/app/app.h"
#include "common/error.h"

struct link_blocker;

struct link_blocker_counts {
	uint64_t blocked;
	uint64_t passed_over; /* ended, changed or blocked meanwhile */
	uint64_t refused;     /* could not be blocked; logged */
};

/* Connects.  `who` is the editor of the links; `config`, `app` and `who` must
 * outlive the result. */
struct link_blocker *link_blocker_new(struct app *app,
				      const struct allocator_config *config,
				      const char *who, struct error *err);
/* Waits until events and audit lines are written, some seconds at most.  NULL
 * accepted. */
void link_blocker_free(struct link_blocker *b);

/* Sets the domain whose links are blocked from now on: a listed domain in its
 * one form. */
int link_blocker_set_domain(struct link_blocker *b, const char *domain,
			    struct error *err);

/* Writes blocked links again from now on. */
void link_blocker_repeat(struct link_blocker *b);

/* Takes a link; blocks those that were taken when there are some thousands.
 * ERROR_REMOTE, retriable: Redis has been away for half a minute.
 * ERROR_STOPPED: a signal came. */
int link_blocker_take(struct link_blocker *b, const char *code,
		      uint64_t link_id, struct error *err);
/* Blocks those that were taken and not yet blocked. */
int link_blocker_finish(struct link_blocker *b, struct error *err);

/* Waits until Kafka has the events of all that was blocked; -1, retriable: it
 * does not. */
int link_blocker_flush(struct link_blocker *b, struct error *err);

struct link_blocker_counts link_blocker_counts(const struct link_blocker *b);

#endif
