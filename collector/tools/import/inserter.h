/*
 * inserter.h - inserts batches of a log into ClickHouse, each once.  It waits
 * for a server that is away, and keeps to the rate of
 * collector.parts_per_second.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_INSERTER_H
#define COLLECTOR_TOOLS_IMPORT_INSERTER_H

#include "collector/collector_config.h"
#include "collector/exactly_once/sink.h"
#include "collector/tools/import/import_batch.h"
#include "collector/tools/import/journal.h"
#include "collector/tools/import/log_source.h"
#include "common/app/app.h"
#include "common/error.h"

enum {
	/* The epoch of a log that was never taken back (journal.epoch). */
	IMPORT_EPOCH = 0
};

struct inserter;

/* `domains` say which links a line's host shows.  `wait_ms`: how long a server
 * may be away. */
struct inserter *inserter_new(struct app *app,
			      const struct collector_config *config,
			      const struct domains *domains, int64_t wait_ms,
			      struct error *err);
void inserter_free(struct inserter *ins); /* NULL accepted */

/* Finds out which log it is, and where its import goes on.  The log is found by
 * `identity` if that is given, otherwise by the first lines of the source,
 * which is at its beginning again afterwards.  Returns 1 if the log has no
 * complete line yet, so that there is nothing to do. */
int inserter_open(struct inserter *ins, struct log_source *source,
		  const char *path, const char *identity,
		  struct journal_state *ret_state, struct error *err);

/* Returns "import:<name>" of the open log, or "". */
const char *inserter_topic(const struct inserter *ins);

/* Inserts the batch, with as many tries as necessary.  `state` is read anew if
 * the server has a part of the batch. */
int inserter_send(struct inserter *ins, struct import_batch *b,
		  struct enricher *enricher, struct journal_state *state,
		  const char *file, struct error *err);

/* Returns how long (ms) a batch's token is certainly kept, which limits how
 * late a batch may be sent; it follows the settings, since an import measures
 * nothing.  INT64_MAX: a server that keeps no tokens sets no limit. */
int inserter_token_life(struct sink *sink,
			const struct collector_config *config, int64_t *ret_ms,
			struct error *err);

#endif
