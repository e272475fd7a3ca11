#include "collector/enrich/channel.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct medium {
	const char *name; /* letters and digits only, lower case */
	const char *channel;
};

static const struct medium media[] = {
	{"email", "email"},
	{"mail", "email"},
	{"newsletter", "email"},
	{"edm", "email"},
	{"cpc", "paid"},
	{"ppc", "paid"},
	{"cpv", "paid"},
	{"cpa", "paid"},
	{"sem", "paid"},
	{"retargeting", "paid"},
	{"remarketing", "paid"},
	{"sponsored", "paid"},
	{"display", "display"},
	{"banner", "display"},
	{"cpm", "display"},
	{"interstitial", "display"},
	{"programmatic", "display"},
	{"native", "display"},
	{"social", "social"},
	{"socialmedia", "social"},
	{"socialnetwork", "social"},
	{"sm", "social"},
	{"influencer", "social"},
	{"affiliate", "affiliate"},
	{"affiliates", "affiliate"},
	{"partner", "affiliate"},
	{"organic", "search"},
	{"seo", "search"},
	{"referral", "referral"},
	{"sms", "sms"},
	{"mms", "sms"},
	{"rcs", "sms"},
	{"text", "sms"},
	{"push", "push"},
	{"webpush", "push"},
	{"notification", "push"},
	{"qr", "offline"},
	{"qrcode", "offline"},
	{"print", "offline"},
	{"flyer", "offline"},
	{"poster", "offline"},
	{"offline", "offline"},
	{"ai", "ai"},
	{"llm", "ai"},
	{"chatbot", "ai"},
};

/* Turns "Paid-Social" into "paidsocial": spellings differ. */
static void plain_word(const char *text, size_t len, char word[SOURCE_NAME_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < SOURCE_NAME_MAX; i++)
		if (isalnum((unsigned char)text[i]))
			word[n++] = (char)tolower((unsigned char)text[i]);
	word[n] = '\0';
}

static const char *of_medium(const struct utm *utm)
{
	char word[SOURCE_NAME_MAX];

	plain_word(utm->text[UTM_MEDIUM], utm->len[UTM_MEDIUM], word);
	for (size_t i = 0; i < sizeof(media) / sizeof(*media); i++)
		if (!strcmp(word, media[i].name))
			return media[i].channel;
	return !strncmp(word, "paid", 4) ? "paid" : NULL;
}

static const char *of_source(const struct utm *utm,
			     const struct sources *sources)
{
	static const struct medium words[] = {
		{"newsletter", "email"}, {"email", "email"}, {"fb", "social"},
		{"ig", "social"},	 {"qr", "offline"},  {"sms", "sms"},
		{"perplexity", "ai"},	 {"gemini", "ai"},   {"claude", "ai"},
	};
	const char *text = utm->text[UTM_SOURCE];
	struct source source;
	char name[SOURCE_NAME_MAX + 1];
	size_t n = 0;

	if (utm->len[UTM_SOURCE] > SOURCE_NAME_MAX)
		return NULL;
	for (; text[n]; n++)
		name[n] = (char)tolower((unsigned char)text[n]);
	name[n] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(name, words[i].name))
			return words[i].channel;
	return sources_find_name(sources, name, &source) ? source.channel
							 : NULL;
}

const char *channel_of_visit(const struct utm *utm, const char *by_referrer,
			     const struct sources *sources)
{
	const char *channel = NULL;

	if (utm->len[UTM_MEDIUM])
		channel = of_medium(utm);
	if (!channel && utm->mark == UTM_MARK_PAID)
		channel = "paid";
	if (!channel && utm->len[UTM_SOURCE])
		channel = of_source(utm, sources);
	if (channel)
		return channel;
	if (utm->mark == UTM_MARK_SOCIAL &&
	    (!strcmp(by_referrer, "direct") || !strcmp(by_referrer, "unknown")))
		return "social";
	return by_referrer;
}
