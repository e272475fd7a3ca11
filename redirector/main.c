#include "linkstore/config_check.h"
#include "linkstore/domains_config.h"
#include "redirector/redirector.h"
#include "redirector/redirector_config.h"
#include "redirector/visits.h"
#include "redirector/worker.h"

static int serve(struct app *app, const struct redirector_config *config,
		 struct error *err)
{
	struct redirector *r = redirector_new(app, config, err);
	struct workers *workers = NULL;
	int result = -1;

	if (!r)
		goto out;
	workers = workers_new(r, &visits_handler, err);
	if (!workers ||
	    app_serve_admin(app, config->redirector.admin, &config->http, err) <
		    0 ||
	    workers_start(workers, err) < 0)
		goto out;
	app_wait(app, NULL, NULL);
	workers_drain(workers, config->redirector.drain_timeout);
	redirector_flush_events(r, config->redirector.drain_timeout);
	result = redirector_failure(r, err);
out:
	workers_free(workers);
	redirector_free(r);
	return result;
}

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "redirector",
		.summary = "answers visits of short links with redirects, and "
			   "reports each to Kafka",
		.groups = redirector_groups,
		.group_count = redirector_group_count,
		.validate = redirector_config_validate,
	};
	struct redirector_config config = {0};
	struct app *app;
	struct error err = {0};
	int status = app_start(&app, &spec, &config, &config.app, argc, argv);

	if (!app)
		return status;
	status = serve(app, &config, &err);
	return app_finish(app, status < 0 ? &err : NULL);
}
