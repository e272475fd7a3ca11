#include "linkstore/config_check.h"
#include "linkstore/domains_config.h"
#include "redirector/redirector.h"

#define GROUP(of, member)                                                      \
	{                                                                      \
		.section = &(of),                                              \
		.offset = offsetof(struct redirector_config, member)           \
	}

static const struct setting_group groups[] = {
	GROUP(app_log_section, app),	       GROUP(http_section, http),
	GROUP(redis_section, redis),	       GROUP(kafka_section, kafka),
	GROUP(links_section, links),	       GROUP(domains_section, domains),
	GROUP(redirector_section, redirector),
};

static int validate(const void *config, struct error *err)
{
	const struct redirector_config *c = config;

	if (links_config_validate(&c->links, err) < 0 ||
	    domains_config_validate(&c->domains, &c->links, err) < 0)
		return -1;
	return redirector_settings_check(&c->redirector, err);
}

static const struct app_spec spec = {
	.name = "redirector",
	.summary = "answers visits of short links with redirects, and reports "
		   "each to Kafka",
	.groups = groups,
	.group_count = sizeof(groups) / sizeof(groups[0]),
	.validate = validate,
};

static int run(struct app *app, const struct redirector_config *config,
	       struct error *err)
{
	struct redirector *r = redirector_new(app, config, err);
	const struct error *failure;
	int result = -1;

	if (!r)
		return -1;
	if (app_serve_admin(app, config->redirector.admin, &config->http, err) <
		    0 ||
	    redirector_start(r, err) < 0)
		goto out;
	app_wait(app, NULL, NULL);
	redirector_drain(r);
	failure = redirector_failure(r);
	if (failure)
		*err = *failure;
	else
		result = 0;
out:
	redirector_free(r);
	return result;
}

int main(int argc, char **argv)
{
	struct redirector_config config = {0};
	struct app *app;
	struct error err = {0};
	int status = app_start(&app, &spec, &config, &config.app, argc, argv);

	if (!app)
		return status;
	if (run(app, &config, &err) < 0)
		return app_finish(app, &err);
	return app_finish(app, NULL);
}
