#include "collector/enrich/referrer.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/*
 * Names that a host has as one of its labels ("google" is in www.google.co.uk),
 * or whole hosts and their subdomains, which are the ones with a dot.
 */
struct site {
	const char *name;
	const char *channel;
};

static const struct site sites[] = {
	{"mail.google.com", "email"},
	{"mail.yahoo.com", "email"},
	{"outlook.live.com", "email"},
	{"outlook.office.com", "email"},
	{"outlook.office365.com", "email"},
	{"mail.ru", "email"},
	{"mail", "email"},
	{"webmail", "email"},
	{"gemini.google.com", "ai"},
	{"copilot.microsoft.com", "ai"},
	{"chatgpt.com", "ai"},
	{"chat.openai.com", "ai"},
	{"claude.ai", "ai"},
	{"perplexity.ai", "ai"},
	{"plus.google.com", "social"},
	{"google", "search"},
	{"bing", "search"},
	{"yahoo", "search"},
	{"duckduckgo", "search"},
	{"baidu", "search"},
	{"yandex", "search"},
	{"ya.ru", "search"},
	{"ecosia", "search"},
	{"qwant", "search"},
	{"startpage", "search"},
	{"naver", "search"},
	{"daum.net", "search"},
	{"seznam.cz", "search"},
	{"sogou", "search"},
	{"search.brave.com", "search"},
	{"kagi.com", "search"},
	{"facebook.com", "social"},
	{"fb.me", "social"},
	{"instagram.com", "social"},
	{"threads.net", "social"},
	{"threads.com", "social"},
	{"twitter.com", "social"},
	{"t.co", "social"},
	{"x.com", "social"},
	{"linkedin.com", "social"},
	{"lnkd.in", "social"},
	{"reddit.com", "social"},
	{"pinterest", "social"},
	{"tiktok.com", "social"},
	{"youtube.com", "social"},
	{"youtu.be", "social"},
	{"vk.com", "social"},
	{"ok.ru", "social"},
	{"weibo", "social"},
	{"bsky.app", "social"},
	{"mastodon", "social"},
	{"t.me", "social"},
	{"telegram.org", "social"},
	{"whatsapp.com", "social"},
	{"discord.com", "social"},
	{"snapchat.com", "social"},
	{"news.ycombinator.com", "social"},
	{"quora.com", "social"},
};

static bool is_or_is_under(const char *host, const char *name)
{
	size_t host_len = strlen(host), len = strlen(name);

	if (host_len < len || strcmp(host + host_len - len, name) != 0)
		return false;
	return host_len == len || host[host_len - len - 1] == '.';
}

/* The last label is the top-level domain and no name. */
static bool has_label(const char *host, const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		if (!strncmp(host, name, len) && host[len] == '.')
			return true;
		host = strchr(host, '.');
		if (!host)
			return false;
		host++;
	}
}

/* The letters that a host's labels begin with, a bit each. */
static uint32_t first_letters(const char *host)
{
	uint32_t letters = 0;
	bool first = true;

	for (; *host; host++) {
		if (first && *host >= 'a' && *host <= 'z')
			letters |= UINT32_C(1) << (*host - 'a');
		first = *host == '.';
	}
	return letters;
}

static void find_channel(struct referrer *r)
{
	const char *host = r->host;
	uint32_t letters = first_letters(host);

	r->channel = "referral";
	for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++) {
		const char *name = sites[i].name;
		bool fits;

		/* Names begin with a letter, and where a label does. */
		if (!(letters >> (*name - 'a') & 1))
			continue;
		fits = strchr(name, '.') ? is_or_is_under(host, name)
					 : has_label(host, name);
		if (!fits)
			continue;
		r->channel = sites[i].channel;
		r->site = name;
		return;
	}
}

static bool ends_host(char c)
{
	return c == '/' || c == '?' || c == '#' || c == '\\' || c == '\0';
}

/* Copies the host of what follows "://".  False when it is none. */
static bool copy_host(const char *at, const char *end, char *host)
{
	const char *stop = at;
	size_t n = 0;

	while (stop < end && !ends_host(*stop))
		stop++;
	for (const char *c = at; c < stop; c++)
		if (*c == '@')
			at = c + 1;
	for (; at < stop && *at != ':'; at++) {
		unsigned char c = (unsigned char)*at;

		if (n == REFERRER_HOST_MAX ||
		    !(isalnum(c) || c == '-' || c == '.' || c == '_'))
			return false;
		host[n++] = (char)tolower(c);
	}
	host[n] = '\0';
	return n > 0;
}

/* "://", of which there is mostly one, and early. */
static const char *find_mark(const char *text, size_t len)
{
	const char *end = len ? text + len : text;

	for (const char *at = text; len > 2 && at && end - at > 2; at++) {
		at = memchr(at, ':', (size_t)(end - at) - 2);
		if (!at)
			return NULL;
		if (at[1] == '/' && at[2] == '/')
			return at;
	}
	return NULL;
}

void referrer_parse(const char *text, size_t len, const char *own_domain,
		    struct referrer *ret_referrer)
{
	static const char app[] = "android-app://";
	const char *mark = find_mark(text, len);
	struct referrer r = {.channel = "unknown"};

	if (!len)
		r.channel = "direct";
	else if (!mark || !copy_host(mark + 3, text + len, r.host))
		r.host[0] = '\0';
	else if (len > sizeof(app) && !strncasecmp(text, app, sizeof(app) - 1))
		r.channel = "app";
	else if (*own_domain && !strcmp(r.host, own_domain))
		r.channel = "internal";
	else
		find_channel(&r);
	*ret_referrer = r;
}
