#include "allocator/commands/domains_in_use.h"

#include <string.h>

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
