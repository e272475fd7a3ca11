#include "common/registrable_domain.h"

#include <libpsl.h>

const char *registrable_domain(const struct host *host)
{
	const char *domain = NULL;

	if (host->kind == HOST_NAME)
		domain = psl_registrable_domain(psl_builtin(), host->text);
	return domain ? domain : host->text;
}

bool is_public_suffix(const struct host *host)
{
	return host->kind == HOST_NAME &&
	       psl_is_public_suffix(psl_builtin(), host->text);
}
