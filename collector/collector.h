/*
 * collector.h - reads events from Kafka and puts rows into ClickHouse.
 *
 * A thread of its own does all of it.  Each partition fills a block; a block is
 * inserted when it is large or old enough, and its offsets are committed only
 * then: an event can arrive twice but is never lost, and a block that is sent
 * again is recognised by its token.  While a block cannot be inserted, nothing
 * more is read: what is held stays bounded.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

struct collector;

/* Loads the reference files and opens Kafka and ClickHouse, without waiting for
 * either.  `config` and `app` must outlive it. */
struct collector *collector_new(const struct collector_config *config,
				struct app *app, struct error *err);

int collector_start(struct collector *c, struct error *err);

/* Reads the reference files again, soon.  From any thread. */
void collector_reload(struct collector *c);

/* Inserts what is held, commits, leaves the group and ends the thread. */
void collector_stop(struct collector *c);

/* NULL and a half-built one are accepted. */
void collector_free(struct collector *c);

#endif
