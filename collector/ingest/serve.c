#include "collector/ingest/serve.h"

#include <stddef.h>

#include "collector/ingest/collector.h"
#include "collector/memory.h"

static void on_reload(void *arg)
{
	collector_reload(arg);
}

int collector_serve(struct app *app, const struct collector_config *config,
		    struct error *err)
{
	struct collector *collector;
	int status = -1;

	memory_tame();
	collector = collector_new(config, app, err);
	if (!collector)
		return -1;
	if (app_serve_admin(app, config->collector.admin, &config->http, err) ==
		    0 &&
	    collector_start(collector, err) == 0) {
		app_wait(app, on_reload, collector);
		collector_stop(collector);
		status = 0;
	}
	collector_free(collector);
	return status;
}
