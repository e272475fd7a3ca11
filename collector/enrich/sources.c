#include "collector/enrich/sources.h"

#include <ctype.h>
#include <jansson.h>
#include <libpsl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/enrich/sites.h"
#include "common/json_file.h"

struct source_host {
	char *host; /* in lower case, as used in searches */
	const char *channel;
};

struct sources {
	psl_ctx_t *suffixes;
	json_t *list;
	struct source_host *entries; /* in strcmp's order */
	size_t count;
};

/* --- the list ------------------------------------------------------------ */

/* The list's medium "unknown" marks services of a firm with a search engine
 * that are no search. */
static const char *channel_of_medium(const char *medium)
{
	static const char *const channels[][2] = {
		{"search", "search"},	 {"social", "social"},
		{"email", "email"},	 {"ai", "ai"},
		{"paid", "paid"},	 {"referral", "referral"},
		{"unknown", "referral"},
	};

	for (size_t i = 0; medium && i < sizeof(channels) / sizeof(*channels);
	     i++)
		if (!strcmp(medium, channels[i][0]))
			return channels[i][1];
	return NULL;
}

/* Makes the key of an entry; returns NULL when out of memory. */
static char *copy_host_lowercase(const char *host)
{
	char *copy = strdup(host);

	for (char *c = copy; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return copy;
}

/* Referrers mostly have no path: an entry with a path is skipped. */
static int add_entry(struct sources *s, const char *host, const json_t *value,
		     struct error *err)
{
	const char *medium =
		json_string_value(json_object_get(value, "medium"));
	const char *channel = channel_of_medium(medium);

	if (!channel)
		return error_set(err, ERROR_CONFIG,
				 "%.100s: expected a medium: search, social, "
				 "email, ai, paid, referral or unknown",
				 host);
	if (strchr(host, '/'))
		return 0;
	s->entries[s->count] =
		(struct source_host){copy_host_lowercase(host), channel};
	if (!s->entries[s->count].host)
		return error_set_nomem(err);
	s->count++;
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct source_host *)a)->host,
		      ((const struct source_host *)b)->host);
}

static int add_list(struct sources *s, struct error *err)
{
	const char *host;
	json_t *value;

	s->entries = calloc(json_object_size(s->list), sizeof(*s->entries));
	if (!s->entries)
		return error_set_nomem(err);
	json_object_foreach(s->list, host, value)
	{
		if (add_entry(s, host, value, err) < 0)
			return -1;
	}
	qsort(s->entries, s->count, sizeof(*s->entries), compare_entries);
	return 0;
}

static int read_list(struct sources *s, const char *path, struct error *err)
{
	s->list = json_file_load(path, err);
	if (!s->list)
		return -1;
	if (!json_is_object(s->list) || json_object_size(s->list) == 0)
		return error_set(err, ERROR_CONFIG,
				 "%s: expected an object of hosts", path);
	if (add_list(s, err) < 0)
		return error_wrap(err, "%s", path);
	return 0;
}

struct sources *sources_load(const char *path, struct error *err)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	/* The system's list is used if it is newer than the library's. */
	s->suffixes = psl_latest(NULL);
	if (!s->suffixes) {
		error_set(err, ERROR_CONFIG,
			  "libpsl has no list of public suffixes");
		goto fail;
	}
	if (!path || read_list(s, path, err) == 0)
		return s;
	error_wrap(err, "list of sources");
	err->code = ERROR_CONFIG;
fail:
	sources_free(s);
	return NULL;
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	psl_free(s->suffixes);
	json_decref(s->list);
	for (size_t i = 0; i < s->count; i++)
		free(s->entries[i].host);
	free(s->entries);
	free(s);
}

/* --- search --------------------------------------------------------------- */

static int compare_host(const void *host, const void *entry)
{
	return strcmp(host, ((const struct source_host *)entry)->host);
}

static bool find_listed(const struct sources *s, const char *host,
			struct source *ret)
{
	const struct source_host *entry = NULL;

	if (s->count)
		entry = bsearch(host, s->entries, s->count, sizeof(*s->entries),
				compare_host);
	if (!entry)
		return false;
	*ret = (struct source){entry->channel, entry->host, "source_list"};
	return true;
}

/* Finds the entry of exactly this host: ours, or else the list's. */
static bool find_entry(const struct sources *s, const char *host,
		       struct source *ret)
{
	const struct site *own = site_of_host(host);

	if (!own)
		return find_listed(s, host, ret);
	*ret = (struct source){own->channel, own->name, "own"};
	return true;
}

/* Returns whether the label is like "www.", "m.", "de.", "www2.", which lead to
 * the same pages. */
static bool says_nothing(const char *label, size_t len)
{
	static const char *const words[] = {"www",    "m",	"mobile",
					    "search", "images", "lite",
					    "html",   "start"};

	if (len == 2)
		return true;
	if (len == 4 && !memcmp(label, "www", 3))
		return label[3] >= '0' && label[3] <= '9';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (len == strlen(words[i]) && !memcmp(label, words[i], len))
			return true;
	return false;
}

/* Returns whether all labels before `site` in `host` are of that kind. */
static bool is_same_site(const char *host, const char *site)
{
	while (host < site) {
		size_t len = strcspn(host, ".");

		if (!says_nothing(host, len))
			return false;
		host += len + 1;
	}
	return true;
}

/* Returns whether an entry for `site`, an end of `host`, holds for all of
 * `host`. */
static bool site_covers_host(const struct sources *s, const char *host,
			     const char *site, const char *channel)
{
	if (site == host)
		return true;
	/* Each name below a public suffix has another owner. */
	if (psl_is_public_suffix(s->suffixes, site))
		return false;
	if (strcmp(channel, "search") != 0 || is_same_site(host, site))
		return true;
	/* An entry for search.example.org, unlike one for example.org, is for
	 * searches only. */
	return sources_domain(s, site) != site;
}

/* Returns whether the brand's owner has the domain: google.de, google.co.uk,
 * google.com. */
static bool is_country(const struct sources *s, const char *suffix)
{
	const char *last = strrchr(suffix, '.');

	last = last ? last + 1 : suffix;
	return (strlen(last) == 2 || !strcmp(suffix, "com")) &&
	       psl_is_public_suffix2(s->suffixes, suffix,
				     PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE);
}

static bool find_brand(const struct sources *s, const char *host,
		       struct source *ret)
{
	const char *at, *dot;

	for (at = host; (dot = strchr(at, '.')); at = dot + 1) {
		const struct site *brand =
			site_of_brand(at, (size_t)(dot - at));

		if (!brand || !is_country(s, dot + 1))
			continue;
		if (!strcmp(brand->channel, "search") &&
		    !is_same_site(host, at))
			return false;
		*ret = (struct source){brand->channel, brand->name, "brand"};
		return true;
	}
	return false;
}

bool sources_find(const struct sources *s, const char *host, struct source *ret)
{
	struct source found;
	const char *at, *dot;

	for (at = host; (dot = strchr(at, '.')); at = dot + 1) {
		if (!find_entry(s, at, &found) ||
		    !site_covers_host(s, host, at, found.channel))
			continue;
		*ret = found;
		return true;
	}
	return find_brand(s, host, ret);
}

bool sources_find_app(const struct sources *s, const char *package,
		      struct source *ret)
{
	return find_listed(s, package, ret);
}

bool sources_find_name(const struct sources *s, const char *name,
		       struct source *ret)
{
	char host[SOURCE_NAME_MAX + sizeof(".com")];
	size_t len = strlen(name);
	const struct site *brand;

	if (strchr(name, '.'))
		return sources_find(s, name, ret);
	if (len > SOURCE_NAME_MAX)
		return false;
	brand = site_of_brand(name, len);
	if (brand) {
		*ret = (struct source){brand->channel, brand->name, "brand"};
		return true;
	}
	if (find_entry(s, name, ret))
		return true;
	snprintf(host, sizeof(host), "%s.com", name);
	return sources_find(s, host, ret);
}

const char *sources_domain(const struct sources *s, const char *host)
{
	return psl_registrable_domain(s->suffixes, host);
}

const char *sources_site(const struct sources *s, const char *host)
{
	const char *domain = sources_domain(s, host);
	const char *dot = domain ? strchr(domain, '.') : NULL;

	if (!dot ||
	    !psl_is_public_suffix2(s->suffixes, dot + 1,
				   PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE))
		return host;
	return domain;
}
