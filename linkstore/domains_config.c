#include "linkstore/domains_config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "common/config/config_print.h"
#include "common/host.h"
#include "common/keys/key_line.h"
#include "common/uri.h"
#include "linkstore/config_check.h"

#define ROBOTS_TAG_MAX 256 /* bytes */

static const char *const schemes[] = {"https", "http", NULL};

#define SETTING_STRUCT struct domain_config
static const struct setting domain_settings[] = {
	SETTING_STRING(name, REQUIRED, AT_START,
		       "What links call it; never changes while links use it."),
	SETTING_STRINGS(hosts, REQUIRED, AT_START,
			"Host names.  New short URLs are made with the first, "
			"the others lead to links as well: to replace a host, "
			"put another before it."),
	SETTING_ENUM(scheme, "https", schemes, AT_START,
		     "Scheme of new short URLs."),
	SETTING_STRING(base_url, OPTIONAL, AT_START,
		       "What new short URLs start with, where scheme and first "
		       "host do not say it: with a port, or a path that a "
		       "proxy takes off.  Its host must be one of hosts."),
	SETTING_STRING(fallback_url, OPTIONAL, AT_START,
		       "Where / leads; redirector.fallback_url when not set."),
	SETTING_STRINGS(spaces, OPTIONAL, AT_START,
			"Spaces whose links may live here; all when not set."),
	SETTING_STRINGS(accounts, OPTIONAL, AT_START,
			"Accounts whose API keys may make links here, and "
			"\"*\" for all of them.  When not set, only keys with "
			"the role admin may, but for the default domain, which "
			"is everybody's.  Redirectors do not read it."),
	SETTING_PATH(apple_app_site_association, OPTIONAL, RELOADS,
		     "A file that redirectors serve at /.well-known/"
		     "apple-app-site-association, so that an app of iOS opens "
		     "links of these hosts."),
	SETTING_PATH(assetlinks, OPTIONAL, RELOADS,
		     "A file that they serve at /.well-known/assetlinks.json, "
		     "so that an app of Android does."),
	SETTING_PATH(robots_txt, OPTIONAL, RELOADS,
		     "A file that they serve at /robots.txt; one that allows "
		     "all to all when not set."),
	SETTING_STRING(x_robots_tag, OPTIONAL, AT_START,
		       "What redirects of these hosts say in X-Robots-Tag, "
		       "such as noindex; without it when not set."),
	SETTING_BOOL(paused, "false", AT_START,
		     "Its links lead nowhere until this is false again: "
		     "visitors get the answer for a paused link, and no new "
		     "links are made here."),
	{0},
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct domains_config
static const struct setting settings[] = {
	SETTING_STRING(file, OPTIONAL_LIKE("/etc/shortloop/domains.yaml"),
		       RELOADS,
		       "A file with a section domains, whose default and list "
		       "are taken instead of those here, so that a host is "
		       "replaced while programs run."),
	SETTING_BOOL(shared, "false", AT_START,
		     "Take the domains that are in Redis, once there are some, "
		     "before those here or in the file: \"allocator domains "
		     "swap OLD NEW\" then replaces a host everywhere."),
	SETTING_STRING(base_url, "http://localhost:8080", AT_START,
		       "What a short URL starts with, before the slash and the "
		       "code, when there are no domains."),
	/* OWN_SETTINGS: the settings below may be in a domains.file, too. */
	SETTING_OF(STRING, "default", default_domain, AT_START,
		   "Name of the domain of links that name none; the first when "
		   "not set.",
		   OPTIONAL_LIKE("main")),
	SETTING_LIST(
		list,
		OPTIONAL_LIKE("    - name: main\n"
			      "      hosts: [sho.rt, www.sho.rt]\n"
			      "      fallback_url: https://www.example.org/"),
		struct domain_config, domain_settings, AT_START,
		"The domains.  With none, base_url and "
		"redirector.fallback_url are all there is, and links answer "
		"under any host."),
	{0},
};

#define OWN_SETTINGS (&settings[3])

const struct setting_section domains_section = {
	.name = "domains",
	.help = "Names under which short links are reached.  The same for "
		"allocator, redirector and aggregator.",
	.settings = settings,
};

/* --- validation ----------------------------------------------------------- */

static bool is_domain_name(const char *name)
{
	size_t len = strspn(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz._-");

	return len > 0 && len < DOMAIN_NAME_MAX && !name[len];
}

static int refuse_domain_setting(const struct domain_config *c,
				 const char *what, const struct error *why,
				 struct error *err)
{
	return error_set(err, ERROR_CONFIG, "domains.list: %s: %s: %.300s",
			 c->name, what, why->text);
}

/* Returns whether `host` is among the first `count` hosts of this domain. */
static bool has_host(const struct domain_config *c, size_t count,
		     const struct host *host)
{
	struct error ignored = {0};
	struct host other;

	for (size_t i = 0; i < count; i++) {
		const char *text = c->hosts.items[i];

		if (host_parse(text, strlen(text), &other, &ignored) == 0 &&
		    !strcmp(other.text, host->text))
			return true;
	}
	return false;
}

static int check_hosts(const struct domain_config *c, struct error *err)
{
	struct error why = {0};
	struct host host;

	if (c->hosts.count == 0)
		return error_set(err, ERROR_CONFIG,
				 "domains.list: %s has no hosts", c->name);
	for (size_t i = 0; i < c->hosts.count; i++) {
		const char *text = c->hosts.items[i];

		if (host_parse(text, strlen(text), &host, &why) < 0)
			return refuse_domain_setting(c, "hosts", &why, err);
	}
	return 0;
}

/* Returns the part of an http or https URL behind "://", or NULL. */
static const char *after_scheme(const char *url)
{
	if (!strncmp(url, "https://", 8))
		return url + 8;
	return strncmp(url, "http://", 7) ? NULL : url + 7;
}

/* Accepts "" or ":8443". */
static bool is_port(const char *text, size_t len)
{
	unsigned port = 0;

	if (len == 0)
		return true;
	if (text[0] != ':' || len > 6)
		return false;
	for (size_t i = 1; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		port = 10 * port + (unsigned)(text[i] - '0');
	}
	return port >= 1 && port <= 65535;
}

int base_url_check(const char *url, struct host *ret_host, struct error *err)
{
	static const char safe[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz.-_~:/[]";
	const char *rest = after_scheme(url);
	size_t len;

	if (!rest || url[strspn(url, safe)] || url[strlen(url) - 1] == '/')
		return error_set(
			err, ERROR_CONFIG,
			"expected https://host or http://host, with "
			"or without a port and a path, and no slash at "
			"the end");
	len = host_length(rest, strcspn(rest, "/"));
	if (strpbrk(rest + len, "[]"))
		return error_set(err, ERROR_CONFIG,
				 "brackets belong around an IPv6 address only");
	if (host_parse(rest, len, ret_host, err) < 0) {
		err->code = ERROR_CONFIG;
		return -1;
	}
	if (is_port(rest + len, strcspn(rest + len, "/")))
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "the port is not a number from 1 to 65535");
}

static int check_base_url(const struct domain_config *c, struct error *err)
{
	struct error why = {0};
	struct host host;

	if (!c->base_url)
		return 0;
	if (base_url_check(c->base_url, &host, &why) < 0)
		return refuse_domain_setting(c, "base_url", &why, err);
	if (has_host(c, c->hosts.count, &host))
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "domains.list: %s: base_url: %s is not one of its "
			 "hosts: short URLs would lead nowhere",
			 c->name, host.text);
}

static int check_fallback_url(const struct domain_config *c, struct error *err)
{
	const char *url = c->fallback_url;

	if (!url || uri_is_web(url, strlen(url)))
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "domains.list: %s: fallback_url: '%.200s' is not an "
			 "http or https URL",
			 c->name, url);
}

static int check_accounts(const struct domain_config *c, struct error *err)
{
	char **items = c->accounts.items;

	for (size_t i = 0; i < c->accounts.count; i++) {
		if (strcmp(items[i], "*") != 0 &&
		    !key_line_name_is_valid(items[i]))
			return error_set(err, ERROR_CONFIG,
					 "domains.list: %s: accounts: '%.80s': "
					 "expected \"*\" or a name of 1 to %d "
					 "of [0-9A-Za-z._-]",
					 c->name, items[i],
					 API_KEY_NAME_MAX - 1);
	}
	return 0;
}

/* Checks for a field value of RFC 9110, 5.5, in ASCII. */
static int check_robots_tag(const struct domain_config *c, struct error *err)
{
	const char *tag = c->x_robots_tag;
	size_t len = tag ? strlen(tag) : 0, i = 0;

	if (!tag)
		return 0;
	while (i < len && tag[i] >= ' ' && tag[i] <= '~')
		i++;
	if (len && len <= ROBOTS_TAG_MAX && i == len && tag[0] != ' ' &&
	    tag[len - 1] != ' ')
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "domains.list: %s: x_robots_tag: expected rules such "
			 "as noindex, nofollow: 1 to %d characters of ASCII, "
			 "without blanks around them",
			 c->name, ROBOTS_TAG_MAX);
}

static int check_domain(const struct domain_config *c,
			const struct links_config *links, struct error *err)
{
	if (!is_domain_name(c->name))
		return error_set(err, ERROR_CONFIG,
				 "domains.list: '%.80s': expected a name of 1 "
				 "to %d of [0-9A-Za-z._-]",
				 c->name, DOMAIN_NAME_MAX - 1);
	for (size_t i = 0; i < c->spaces.count; i++) {
		if (links && links->spaces.count &&
		    !links_config_has_space(links, c->spaces.items[i]))
			return error_set(err, ERROR_CONFIG,
					 "domains.list: %s: spaces: '%.40s' is "
					 "not one of links.spaces",
					 c->name, c->spaces.items[i]);
	}
	if (check_accounts(c, err) < 0 || check_hosts(c, err) < 0 ||
	    check_base_url(c, err) < 0 || check_robots_tag(c, err) < 0)
		return -1;
	return check_fallback_url(c, err);
}

/* --- duplicates -----------------------------------------------------------
 *
 * Sorting finds them in less time than a comparison of all pairs. */

/* A name, or a host in its normal form, and the index of its domain. */
struct domain_host {
	char *text;
	size_t domain;
};

struct entries {
	struct domain_host *items;
	size_t count;
};

/* Sorts equal entries by domain. */
static int compare_entries(const void *a, const void *b)
{
	const struct domain_host *one = a, *other = b;
	int order = strcmp(one->text, other->text);

	if (order)
		return order;
	return (one->domain > other->domain) - (one->domain < other->domain);
}

static int entries_init(struct entries *e, size_t most, struct error *err)
{
	*e = (struct entries){.items = calloc(most + 1, sizeof(*e->items))};
	return e->items ? 0 : error_set_nomem(err);
}

static int entries_add(struct entries *e, const char *text, size_t domain,
		       struct error *err)
{
	struct domain_host *entry = &e->items[e->count];

	entry->text = strdup(text);
	if (!entry->text)
		return error_set_nomem(err);
	entry->domain = domain;
	e->count++;
	return 0;
}

/* Returns the second of two equal entries; NULL: there are none. */
static const struct domain_host *entries_find_doubled(struct entries *e)
{
	qsort(e->items, e->count, sizeof(*e->items), compare_entries);
	for (size_t i = 1; i < e->count; i++)
		if (!strcmp(e->items[i - 1].text, e->items[i].text))
			return &e->items[i];
	return NULL;
}

static void entries_release(struct entries *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->items[i].text);
	free(e->items);
}

static int check_names(const struct domain_config *all, size_t count,
		       struct error *err)
{
	const struct domain_host *doubled;
	struct entries names;
	int status = entries_init(&names, count, err);

	for (size_t i = 0; status == 0 && i < count; i++)
		status = entries_add(&names, all[i].name, i, err);
	doubled = status == 0 ? entries_find_doubled(&names) : NULL;
	if (doubled)
		status = error_set(err, ERROR_CONFIG,
				   "domains.list: %s is there twice",
				   doubled->text);
	entries_release(&names);
	return status;
}

static int check_accounts_once(const struct domain_config *c, struct error *err)
{
	const struct domain_host *doubled;
	struct entries accounts;
	int status = entries_init(&accounts, c->accounts.count, err);

	for (size_t i = 0; status == 0 && i < c->accounts.count; i++)
		status = entries_add(&accounts, c->accounts.items[i], 0, err);
	doubled = status == 0 ? entries_find_doubled(&accounts) : NULL;
	if (doubled)
		status = error_set(err, ERROR_CONFIG,
				   "domains.list: %s: accounts: %s is there "
				   "twice",
				   c->name, doubled->text);
	entries_release(&accounts);
	return status;
}

static int add_hosts(struct entries *e, const struct domain_config *c,
		     size_t domain, struct error *err)
{
	struct host host;

	for (size_t i = 0; i < c->hosts.count; i++) {
		const char *text = c->hosts.items[i];

		if (host_parse(text, strlen(text), &host, err) < 0 ||
		    entries_add(e, host.text, domain, err) < 0)
			return -1;
	}
	return 0;
}

static int refuse_host(const struct domain_config *all,
		       const struct domain_host *first,
		       const struct domain_host *second, struct error *err)
{
	const char *name = all[second->domain].name;

	if (first->domain == second->domain)
		return error_set(err, ERROR_CONFIG,
				 "domains.list: %s has the host %s twice", name,
				 second->text);
	return error_set(err, ERROR_CONFIG,
			 "domains.list: the host %s is in both %s and %s",
			 second->text, all[first->domain].name, name);
}

static int check_all_hosts(const struct domain_config *all, size_t count,
			   struct error *err)
{
	const struct domain_host *doubled;
	struct entries hosts;
	size_t most = 0;
	int status;

	for (size_t i = 0; i < count; i++)
		most += all[i].hosts.count;
	status = entries_init(&hosts, most, err);
	for (size_t i = 0; status == 0 && i < count; i++)
		status = add_hosts(&hosts, &all[i], i, err);
	doubled = status == 0 ? entries_find_doubled(&hosts) : NULL;
	if (doubled)
		status = refuse_host(all, doubled - 1, doubled, err);
	entries_release(&hosts);
	return status;
}

static int check_unique(const struct domain_config *all, size_t count,
			struct error *err)
{
	if (check_names(all, count, err) < 0)
		return -1;
	return check_all_hosts(all, count, err);
}

/* -------------------------------------------------------------------------- */

static int check_common_base_url(const struct domains_config *config,
				 struct error *err)
{
	struct host host;

	if (!config->base_url ||
	    base_url_check(config->base_url, &host, err) == 0)
		return 0;
	return error_wrap(err, "domains.base_url");
}

int domains_config_validate(const struct domains_config *config,
			    const struct links_config *links, struct error *err)
{
	const struct domain_config *all = config->list.items;
	bool found = !config->default_domain;

	if (config->file && (config->list.count || config->default_domain))
		return error_set(
			err, ERROR_CONFIG,
			"domains: default and list are in domains.file "
			"when there is one");
	if (check_common_base_url(config, err) < 0)
		return -1;
	for (size_t i = 0; i < config->list.count; i++) {
		if (check_domain(&all[i], links, err) < 0 ||
		    check_accounts_once(&all[i], err) < 0)
			return -1;
		found = found || !strcmp(all[i].name, config->default_domain);
	}
	if (check_unique(all, config->list.count, err) < 0)
		return -1;
	if (found)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "domains.default: '%.80s' is not the name of a domain",
			 config->default_domain);
}

/* --- files, and texts like them ------------------------------------------- */

static const struct setting_section file_section = {
	.name = "domains",
	.settings = OWN_SETTINGS,
};
static const struct setting_group file_group = {.section = &file_section};
static const struct config_spec file_spec = {.groups = &file_group,
					     .group_count = 1};

int domains_config_load(const char *path, const struct links_config *links,
			struct domains_config *ret_config, struct error *err)
{
	*ret_config = (struct domains_config){.file = NULL};
	if (config_load(&file_spec, path, ret_config, err) < 0)
		return -1;
	if (domains_config_validate(ret_config, links, err) < 0)
		return error_wrap(err, "%s", path);
	return 0;
}

int domains_config_parse(const char *name, const char *text,
			 const struct links_config *links,
			 struct domains_config *ret_config, struct error *err)
{
	*ret_config = (struct domains_config){.file = NULL};
	if (config_load_text(&file_spec, name, text, ret_config, err) < 0)
		return -1;
	if (domains_config_validate(ret_config, links, err) < 0)
		return error_wrap(err, "%s", name);
	return 0;
}

void domains_config_release(struct domains_config *config)
{
	config_release(&file_spec, config);
}

char *domains_config_text(const struct domains_config *config,
			  struct error *err)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		config_print(&file_spec, config, out);
		if (fclose(out) == 0)
			return text;
	}
	free(text);
	error_set_nomem(err);
	return NULL;
}
