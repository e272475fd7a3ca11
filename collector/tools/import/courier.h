/*
 * courier.h - brings blocks of a log into ClickHouse, each once.  Waits for a
 * server that is away, and keeps to the insert_rate of
 * collector.parts_per_second.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_COURIER_H
#define COLLECTOR_TOOLS_IMPORT_COURIER_H

#include "collector/collector_config.h"
#include "collector/tools/import/block.h"
#include "common/app/app.h"
#include "common/error.h"

enum {
	/* Logs have no lives as topics have: a number that no topic has. */
	IMPORT_EPOCH = 0
};

struct courier;

/* `wait_ms`: how long a server may be away. */
struct courier *courier_new(struct app *app,
			    const struct collector_config *config,
			    int64_t wait_ms, struct error *err);
void courier_free(struct courier *c); /* NULL accepted */

/* Finds out which log it is (by `identity`, if one was given) and where its
 * import goes on.  1: it has no whole line yet, so there is nothing to do. */
int courier_open(struct courier *c, const char *path, const char *identity,
		 struct journal_state *ret_state, struct error *err);

/* "import:<name>" of the log that is open, or "". */
const char *courier_topic(const struct courier *c);

/* Inserts the block, however often that takes.  `state` is read anew where the
 * server turns out to hold a part of it. */
int courier_send(struct courier *c, struct block *b, struct enricher *enricher,
		 struct journal_state *state, const char *file,
		 struct error *err);

#endif
