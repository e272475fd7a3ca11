/*
 * reloader.h - reads the reference files again on a thread of its own, so that
 * events are still taken meanwhile.
 *
 * The thread that uses the files fetches the new ones between two events and
 * gives the old ones back.  They are freed here, too, since that can take as
 * long as hundreds of events.
 */
#ifndef COLLECTOR_INGEST_RELOADER_H
#define COLLECTOR_INGEST_RELOADER_H

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/enrich/lookups.h"
#include "common/error.h"
#include "common/log.h"

struct reloader;

/* Starts the thread.  It also checks every two seconds whether geo files were
 * replaced since this call, and then reads those alone: call this before they
 * are first read.  All arguments must outlive it. */
struct reloader *reloader_new(const struct collector_settings *settings,
			      const struct collector_metrics *metrics,
			      struct log *log, struct error *err);
/* Waits for the read that is under way.  NULL accepted. */
void reloader_free(struct reloader *r);

/*
 * Reads the files soon; a request during a read causes one more.  If a file is
 * rejected, the log has the reason and nothing else changes.  Callable from any
 * thread.
 */
void reloader_ask(struct reloader *r);

/*
 * Returns what was read since the last call, all files or only the places
 * (lookups.h), or NULL; it costs one atomic load.  Give back what it was
 * exchanged for.  Call both from the thread that uses the files.
 */
struct enrich_lookups *reloader_fetch(struct reloader *r);
void reloader_give_back(struct reloader *r, struct enrich_lookups *old);

#endif
