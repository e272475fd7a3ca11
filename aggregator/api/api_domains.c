#include "aggregator/api/api_domains.h"

#include <stdlib.h>

#include "linkstore/domains_follower.h"

struct api_domains {
	struct domains *domains;
	struct domains_follower *follower;
};

static int take_domains(void *arg, const char *shared, size_t *ret_count,
			struct error *err)
{
	struct api_domains *d = arg;

	if (domains_reload(d->domains, shared, err) < 0)
		return -1;
	*ret_count = domains_count(d->domains);
	return 0;
}

struct api_domains *api_domains_new(const struct aggregator_config *config,
				    struct log *log, struct metrics *metrics,
				    struct health *health, struct error *err)
{
	struct api_domains *d = calloc(1, sizeof(*d));
	const struct domains_follower_options options = {
		.domains = &config->domains,
		.redis = &config->redis,
		.log = log,
		.metrics = metrics,
		.health = health,
		.take = take_domains,
		.arg = d,
	};

	if (!d) {
		error_set_nomem(err);
		return NULL;
	}
	d->domains = domains_open(&config->domains, &config->links, NULL, err);
	if (d->domains)
		d->follower = domains_follower_new(&options, err);
	if (d->follower)
		return d;
	api_domains_free(d);
	return NULL;
}

void api_domains_free(struct api_domains *d)
{
	if (!d)
		return;
	domains_follower_free(d->follower);
	domains_free(d->domains);
	free(d);
}

int api_domains_start(struct api_domains *d, struct error *err)
{
	return domains_follower_start(d->follower, err);
}

void api_domains_reload(struct api_domains *d)
{
	domains_follower_reload(d->follower);
}

const struct domains *api_domains_now(const struct api_domains *d)
{
	return domains_follower_is_ready(d->follower) ? d->domains : NULL;
}
