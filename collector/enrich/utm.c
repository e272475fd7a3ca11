#include "collector/enrich/utm.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/hex.h"

enum {
	NAME_MAX_LEN = 32 /* bytes of a name with a leading "amp;" */
};

struct utm_name {
	const char *text;
	int field; /* a utm_field, or UTM_FIELDS for a mark */
	enum utm_mark mark;
};

static const struct utm_name names[] = {
	{"utm_source", UTM_SOURCE, UTM_MARK_NONE},
	{"utm_medium", UTM_MEDIUM, UTM_MARK_NONE},
	{"utm_campaign", UTM_CAMPAIGN, UTM_MARK_NONE},
	{"utm_term", UTM_TERM, UTM_MARK_NONE},
	{"utm_content", UTM_CONTENT, UTM_MARK_NONE},
	{"gclid", UTM_FIELDS, UTM_MARK_PAID},	  /* Google Ads */
	{"gbraid", UTM_FIELDS, UTM_MARK_PAID},	  /* Google Ads, from apps */
	{"wbraid", UTM_FIELDS, UTM_MARK_PAID},	  /* Google Ads, to apps */
	{"dclid", UTM_FIELDS, UTM_MARK_PAID},	  /* Google Display */
	{"msclkid", UTM_FIELDS, UTM_MARK_PAID},	  /* Microsoft */
	{"yclid", UTM_FIELDS, UTM_MARK_PAID},	  /* Yandex */
	{"ttclid", UTM_FIELDS, UTM_MARK_PAID},	  /* TikTok Ads */
	{"twclid", UTM_FIELDS, UTM_MARK_PAID},	  /* X Ads */
	{"li_fat_id", UTM_FIELDS, UTM_MARK_PAID}, /* LinkedIn Ads */
	{"sccid", UTM_FIELDS, UTM_MARK_PAID},	  /* Snapchat Ads */
	{"rdt_cid", UTM_FIELDS, UTM_MARK_PAID},	  /* Reddit Ads */
	{"fbclid", UTM_FIELDS, UTM_MARK_SOCIAL},
	{"igshid", UTM_FIELDS, UTM_MARK_SOCIAL},
	{"igsh", UTM_FIELDS, UTM_MARK_SOCIAL},
};

/* Decodes the byte at *at, which moves past it. */
static char decode_next_byte(const char **at, const char *end)
{
	char c = *(*at)++;

	if (c == '+')
		return ' ';
	if (c == '%') {
		int byte = hex_byte(*at, (size_t)(end - *at));

		if (byte >= 0) {
			*at += 2;
			return (char)byte;
		}
	}
	return c;
}

static const struct utm_name *find_name(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i].text) == len &&
		    !strncasecmp(names[i].text, text, len))
			return &names[i];
	return NULL;
}

/* Finds the name that the decoded bytes spell. */
static const struct utm_name *take_name(const char *at, const char *end)
{
	char text[NAME_MAX_LEN + 1];
	size_t n = 0, skip = 0;

	while (at < end && n < sizeof(text))
		text[n++] = decode_next_byte(&at, end);
	/* A link copied from HTML without unescaping: &amp;utm_medium=... */
	if (n > 4 && !strncasecmp(text, "amp;", 4))
		skip = 4;
	return at < end ? NULL : find_name(text + skip, n - skip);
}

/* Returns where to cut without splitting a UTF-8 character; other bytes are cut
 * at the limit. */
static size_t cut_at(const char *text, size_t max)
{
	size_t n = max;

	while (n && max - n < 3 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return ((unsigned char)text[n] & 0xc0) == 0x80 ? max : n;
}

static size_t take_value(const char *at, const char *end, char *text)
{
	size_t n = 0;

	while (at < end && n <= UTM_MAX)
		text[n++] = decode_next_byte(&at, end);
	if (n > UTM_MAX)
		n = cut_at(text, UTM_MAX);
	text[n] = '\0';
	return n;
}

static void take_pair(const char *at, const char *end, struct utm *utm)
{
	const char *equals = memchr(at, '=', (size_t)(end - at));
	const struct utm_name *name;

	if (!equals || equals + 1 == end)
		return;
	name = take_name(at, equals);
	if (!name)
		return;
	if (name->field == UTM_FIELDS) {
		if (utm->mark != UTM_MARK_PAID)
			utm->mark = name->mark;
	} else if (!utm->len[name->field]) {
		utm->len[name->field] =
			take_value(equals + 1, end, utm->text[name->field]);
	}
}

void utm_parse(const char *query, size_t len, struct utm *ret_utm)
{
	const char *end = len ? query + len : query;

	for (int i = 0; i < UTM_FIELDS; i++) {
		ret_utm->text[i][0] = '\0';
		ret_utm->len[i] = 0;
	}
	ret_utm->mark = UTM_MARK_NONE;
	for (const char *at = query; at && at < end;) {
		const char *amp = memchr(at, '&', (size_t)(end - at));

		take_pair(at, amp ? amp : end, ret_utm);
		at = amp ? amp + 1 : NULL;
	}
}
