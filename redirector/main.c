#include "linkstore/config_check.h"
#include "linkstore/domains_config.h"
#include "redirector/redirector.h"
#include "redirector/redirector_config.h"
#include "redirector/server.h"
#include "redirector/visits.h"

static void on_reload(void *arg)
{
	redirector_reload(arg);
}

static int serve(struct app *app, const void *arg, struct error *err)
{
	const struct redirector_config *config = arg;
	struct redirector *r = redirector_new(app, config, err);
	struct servers *servers = NULL;
	int result = -1;

	if (!r)
		goto out;
	servers = servers_new(r, &visits_handler, err);
	if (!servers ||
	    app_serve_admin(app, config->redirector.admin, &config->http, err) <
		    0 ||
	    servers_start(servers, err) < 0 ||
	    redirector_start_domains(r, err) < 0 ||
	    redirector_start_invalidations(r, err) < 0 ||
	    redirector_start_counters(r, err) < 0)
		goto out;
	app_wait(app, on_reload, r);
	servers_drain(servers, config->redirector.drain_timeout);
	redirector_flush_events(r, config->redirector.drain_timeout);
	redirector_stop_invalidations(r);
	servers_free(servers);
	servers = NULL;
	redirector_end_counters(r, config->redirector.drain_timeout);
	result = redirector_failure(r, err);
out:
	if (r)
		redirector_stop_invalidations(r);
	servers_free(servers);
	redirector_free(r);
	return result;
}

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "redirector",
		.summary = "answers visits of short links with redirects, and "
			   "reports each to Kafka",
		.run = serve,
		.groups = redirector_groups,
		.group_count = redirector_group_count,
		.validate = redirector_config_validate,
		.check = redirector_check,
	};
	struct redirector_config config = {0};

	return app_main(&spec, &config, &config.app, argc, argv);
}
