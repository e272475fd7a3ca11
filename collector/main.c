#include <stddef.h>

#include "collector/collector.h"
#include "collector/collector_config.h"
#include "common/app/app.h"

static void on_reload(void *arg)
{
	collector_reload(arg);
}

static int run(struct app *app, const struct collector_config *config,
	       struct error *err)
{
	struct collector *collector = collector_new(config, app, err);
	int status = -1;

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

int main(int argc, char **argv)
{
	struct collector_config config = {0};
	const struct app_spec spec = {
		.name = "collector",
		.summary = "turns the events of clicks into rows of ClickHouse",
		.groups = collector_groups,
		.group_count = collector_group_count,
	};
	struct error err = {0};
	struct app *app;
	int status = app_start(&app, &spec, &config, &config.app, argc, argv);

	if (!app)
		return status;
	return app_finish(app, run(app, &config, &err) < 0 ? &err : NULL);
}
