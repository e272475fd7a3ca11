/*
 * Any bytes as referrer, requested host, query string and languages of a visit:
 * the result is bounded, and a known channel; the source that decided is an end
 * of the referrer's host.  The input is split at its first three line ends.
 * The list of sources is that in .deps if it exists.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/enrich/channel.h"
#include "collector/enrich/language.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/utm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sources *sources;

static void load_sources(void)
{
	static const char list[] = ".deps/sources/referrers.json";
	struct error err = {0};

	if (!sources)
		sources = sources_load(access(list, R_OK) ? NULL : list, &err);
	if (!sources)
		abort();
}

/* The source that decided is an end of the host, or a brand's name. */
static void check_source(const struct referrer *r)
{
	size_t host = strlen(r->host), site;

	if (!r->source.site)
		return;
	assert(r->source.channel == r->channel);
	if (!strcmp(r->source.origin, "brand")) {
		assert(strstr(r->host, r->source.site));
		return;
	}
	site = strlen(r->source.site);
	assert(site <= host);
	assert(!strcmp(r->host + host - site, r->source.site));
	assert(site == host || r->host[host - site - 1] == '.');
}

/* The copy has exactly this size, so that a read beyond it is noticed. */
static char *take_line(const uint8_t **data, size_t *size, size_t *ret_len)
{
	const uint8_t *end = *size ? memchr(*data, '\n', *size) : NULL;
	size_t len = end ? (size_t)(end - *data) : *size;
	char *copy = malloc(len + !len);

	if (!copy)
		abort();
	if (len)
		memcpy(copy, *data, len);
	*data += len + (end ? 1 : 0);
	*size -= len + (end ? 1 : 0);
	*ret_len = len;
	return copy;
}

/* A site is an end of its host. */
static void check_site(const struct referrer *r)
{
	const char *site = sources_site(sources, r->host);

	assert(site >= r->host && site <= r->host + strlen(r->host));
}

static void check_channel(const char *channel)
{
	static const char *const channels[] = {
		"direct",  "internal",	"search",   "social",  "email",
		"ai",	   "app",	"referral", "unknown", "paid",
		"display", "affiliate", "sms",	    "push",    "offline",
	};

	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++)
		if (!strcmp(channel, channels[i]))
			return;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t lens[4];
	char *parts[4];
	char domain[64] = "", language[LANGUAGE_MAX + 1];
	struct referrer r;
	struct utm utm;

	for (int i = 0; i < 4; i++)
		parts[i] = take_line(&data, &size, &lens[i]);
	if (lens[1] < sizeof(domain))
		memcpy(domain, parts[1], lens[1]);
	load_sources();
	referrer_parse(parts[0], lens[0], domain, sources, &r);
	assert(strlen(r.host) <= REFERRER_HOST_MAX);
	check_site(&r);
	check_channel(r.channel);
	check_source(&r);
	utm_parse(parts[2], lens[2], &utm);
	for (int i = 0; i < UTM_FIELDS; i++) {
		assert(utm.len[i] <= UTM_MAX && utm.len[i] <= lens[2]);
		assert(utm.text[i][utm.len[i]] == '\0');
	}
	check_channel(channel_of_visit(&utm, r.channel, sources));
	language_parse(parts[3], lens[3], language);
	assert(strlen(language) <= LANGUAGE_MAX);
	for (int i = 0; i < 4; i++)
		free(parts[i]);
	return 0;
}
