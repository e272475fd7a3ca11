#include "common/clickhouse/host_filter.h"

#include <stdbool.h>
#include <string.h>

#include "common/registrable_domain.h"

/* A search for the text alone passes few rows on to the pattern, which takes
 * more than ten times as long. */
#define MAY_HAVE(text)                                                         \
	"(position(url, " text ") > 0 OR notEmpty(mapKeys(targets)))"
/* The host of a stored URL, which is in its normal form; \x40 is an @. */
#define HOST_OF(host_pattern)                                                  \
	"extract(u, '^https?://(?:[^/?#]*\\\\x40)?(" host_pattern ")')"
#define ALL_URLS "arrayConcat([url], mapValues(targets))"

static const char leads_to_host[] =
	MAY_HAVE("{url_host:String}") " AND arrayExists(u -> " HOST_OF(
		"\\\\[[0-9a-f:.]+\\\\]|[^/?#:]+") " = "
						  "{url_host:String}, " ALL_URLS
						  ")";
static const char leads_below_host[] = MAY_HAVE(
	"substring({url_host:String}, 2)") " AND arrayExists(u -> "
					   "endsWith(concat('.', " HOST_OF(
						   "[^/?#:]+") "), "
							       "{url_host:"
							       "String}),"
							       " " ALL_URLS ")";
static const char has_host_domain[] =
	"hasAny(target_hosts, {url_host_domains:Array(String)})";
static const char has_domain_below_host[] =
	"arrayExists(d -> endsWith(concat('.', d), {url_host:String}), "
	"target_hosts)";

const char *host_filter_condition(const char *domain)
{
	return *domain == '.' ? leads_below_host : leads_to_host;
}

static bool covers_public_suffix(const char *domain)
{
	struct error ignored;
	struct host host;

	return *domain == '.' &&
	       host_parse(domain + 1, strlen(domain + 1), &host, &ignored) ==
		       0 &&
	       is_public_suffix(&host);
}

const char *host_filter_narrowing(const char *domain)
{
	return covers_public_suffix(domain) ? has_domain_below_host
					    : has_host_domain;
}

void host_filter_put_names(struct buf *out, const char *domain)
{
	const char *name = domain + (*domain == '.');

	/* No row has the texts above an address. */
	buf_printf(out, "['%s'", name);
	while ((name = strchr(name, '.')))
		buf_printf(out, ",'%s'", ++name);
	buf_puts(out, "]");
}
