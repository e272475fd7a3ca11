/*
 * reloader.h - reads the reference files again on a thread of its own, so that
 * events go on being taken meanwhile.
 *
 * Whoever uses the files fetches the new ones between two events and hands the
 * old ones back; they are freed here, too, since that can take as long as
 * hundreds of events.
 */
#ifndef COLLECTOR_INGEST_RELOADER_H
#define COLLECTOR_INGEST_RELOADER_H

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/enrich/lookups.h"
#include "common/error.h"
#include "common/log.h"

struct reloader;

/* Starts the thread, which also looks every two seconds whether geo files were
 * replaced since this call, and then reads those alone: make it before they are
 * first read.  All must outlive it. */
struct reloader *reloader_new(const struct collector_settings *settings,
			      const struct collector_metrics *metrics,
			      struct log *log, struct error *err);
/* Waits for what is being read.  NULL accepted. */
void reloader_free(struct reloader *r);

/*
 * Reads the files, soon; asked again while it reads, once more.  When one of
 * them is refused, a line in the log says why and nothing else happens.  From
 * any thread.
 */
void reloader_ask(struct reloader *r);

/*
 * What was read since the last call, all or the places (lookups.h), or NULL; it
 * costs a load.  Give back what it was exchanged for.  From the thread that
 * uses the files.
 */
struct enrich_lookups *reloader_fetch(struct reloader *r);
void reloader_give_back(struct reloader *r, struct enrich_lookups *old);

#endif
