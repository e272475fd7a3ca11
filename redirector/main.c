#include "redirector/redirector.h"
#include "redirector/redirector_config.h"
#include "redirector/serve.h"

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "redirector",
		.summary = "answers visits of short links with redirects, and "
			   "reports each to Kafka",
		.run = redirector_serve,
		.groups = redirector_groups,
		.group_count = redirector_group_count,
		.complete = redirector_config_complete,
		.validate = redirector_config_validate,
		.check = redirector_check,
	};
	struct redirector_config config = {0};

	return app_main(&spec, &config, &config.app, argc, argv);
}
