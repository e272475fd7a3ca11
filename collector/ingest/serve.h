/* ingest/serve.h - the collector as a daemon: `collector serve`. */
#ifndef COLLECTOR_INGEST_SERVE_H
#define COLLECTOR_INGEST_SERVE_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

/* Returns 0 when it was told to stop and has drained. */
int collector_serve(struct app *app, const struct collector_config *config,
		    struct error *err);

#endif
