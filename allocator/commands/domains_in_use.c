#include "allocator/commands/domains_in_use.h"

#include <stdlib.h>
#include <string.h>

#include "common/domain_list.h"
#include "common/url_parts.h"
#include "linkstore/shared_domains.h"

char *domains_in_use_text(const struct allocator_config *config,
			  const char *shared, struct error *err)
{
	const struct domains_config *own = &config->domains;
	struct domains_config of_file = {0};
	char *text = NULL;

	if (*shared) {
		text = strdup(shared);
		if (!text)
			error_set_nomem(err);
		return text;
	}
	if (!own->file)
		return domains_config_text(own, err);
	if (domains_config_load(own->file, &config->links, &of_file, err) == 0)
		text = domains_config_text(&of_file, err);
	domains_config_release(&of_file);
	return text;
}

/* --- own hosts ------------------------------------------------------------ */

static int check_host(const struct domain_list *denied, const char *text,
		      struct error *err)
{
	struct error ignored;
	struct host host;

	if (host_parse(text, strlen(text), &host, &ignored) < 0 ||
	    !domain_list_has(denied, &host))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "%.253s is a host of our own short links: to replace "
			 "it by another, use allocator domains swap",
			 host.text);
}

static int check_domains(const struct domain_list *denied,
			 const struct domains_config *domains,
			 struct error *err)
{
	const struct domain_config *all = domains->list.items;

	for (size_t i = 0; i < domains->list.count; i++)
		for (size_t h = 0; h < all[i].hosts.count; h++)
			if (check_host(denied, all[i].hosts.items[h], err) < 0)
				return -1;
	return 0;
}

/* base_url was checked with the configuration. */
static int check_base_url(const struct domain_list *denied, const char *url,
			  struct error *err)
{
	struct url_parts parts;
	struct error ignored;

	if (!url || url_parts_read(&parts, url, strlen(url), &ignored) < 0)
		return 0;
	return check_host(denied, parts.host.text, err);
}

/* Reads the domains that are in use; none if none is configured. */
static int read_domains(const struct allocator_config *config,
			struct redis *redis, struct domains_config *ret,
			struct error *err)
{
	struct shared_domains shared = {0};
	char *text;
	int status = 0;

	if (config->domains.shared &&
	    shared_domains_read(redis, &shared, err) < 0)
		return -1;
	text = domains_in_use_text(config, shared.text ? shared.text : "", err);
	if (!text)
		status = -1;
	else if ((shared.text && *shared.text) || config->domains.file ||
		 config->domains.list.count)
		status = domains_config_parse("the domains in use", text,
					      &config->links, ret, err);
	free(text);
	shared_domains_release(&shared);
	return status;
}

int domains_in_use_refuse_own(const struct allocator_config *config,
			      struct redis *redis, const char *domain,
			      struct error *err)
{
	struct domain_list *denied = domain_list_of(&domain, 1, err);
	struct domains_config domains = {0};
	int status = -1;

	if (denied && read_domains(config, redis, &domains, err) == 0)
		status = check_domains(denied, &domains, err);
	if (status == 0)
		status = check_base_url(denied, config->domains.base_url, err);
	domains_config_release(&domains);
	domain_list_free(denied);
	return status;
}
