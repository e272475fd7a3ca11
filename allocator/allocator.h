/*
 * allocator.h - the running allocator: threads that serve the API, each with
 * its own loop, Redis connection and blocks; one Kafka producer for all.
 */
#ifndef ALLOCATOR_ALLOCATOR_H
#define ALLOCATOR_ALLOCATOR_H

#include "allocator/allocator_config.h"
#include "common/app/app.h"

struct allocator;

/* For --check: reads the API keys and lists of domains, as a start does.
 * `config` is a struct allocator_config.  A bad file is ERROR_CONFIG. */
int allocator_check(const void *config, struct error *err);

/* Builds everything and binds the port; serves nothing yet.  All arguments must
 * outlive it. */
struct allocator *allocator_new(const struct allocator_config *config,
				struct app *app, struct error *err);
void allocator_free(struct allocator *a); /* NULL accepted */

/* Starts the threads. */
int allocator_start(struct allocator *a, struct error *err);

/* Opens the audit file and reads the API keys and the lists of domains again; a
 * failure is logged and changes nothing. */
void allocator_reload(struct allocator *a);

/*
 * Answers what has been asked, hands untouched blocks back, ends the threads
 * and waits for the link events, each for allocator.drain_timeout at most.
 * Returns -1 when the allocator could not have gone on anyway (a space record
 * differs from the configuration): it has sent itself SIGTERM then.
 */
int allocator_stop(struct allocator *a, struct error *err);

#endif
