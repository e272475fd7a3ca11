#include "common/agent/device.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum says {
	SAYS_IOS = 1 << 0,
	SAYS_ANDROID = 1 << 1,
	SAYS_HARMONYOS = 1 << 2,
	SAYS_WINDOWS = 1 << 3,
	/* A system that names Android or iOS beside itself, or a device of
	 * Apple's that is no phone. */
	SAYS_NEITHER = 1 << 4,
	SAYS_MACINTOSH = 1 << 5,
	SAYS_MOBILE = 1 << 6,	 /* as mobile Safari does */
	SAYS_IOS_APP = 1 << 7,	 /* one that no Mac has */
	SAYS_CFNETWORK = 1 << 8, /* Apple's library for HTTP */
	SAYS_PROCESSOR = 1 << 9, /* as CFNetwork does on a Mac */
	SAYS_PHONE = 1 << 10,	 /* HarmonyOS begins with one of five */
	SAYS_TABLET = 1 << 11,
	SAYS_DESKTOP = 1 << 12,
	SAYS_TV = 1 << 13,
	SAYS_WEARABLE = 1 << 14,
	SAYS_WECHAT = 1 << 15,
	SAYS_MINI_PROGRAM = 1 << 16,
	SAYS_QQ = 1 << 17,
	SAYS_WEIBO = 1 << 18,
	SAYS_ALIPAY = 1 << 19,
};

/* The places at which a word counts. */
enum where {
	ANYWHERE,
	BEGINS,	    /* no letter precedes it */
	VERSIONED,  /* no letter precedes it, and ';', '/', or a blank and a
		       digit follow */
	NOT_OF_IOS, /* "iOS-" does not precede it */
};

struct device_word {
	const char *text;
	enum says says;
	enum where where;
};

#define WORDS(...)                                                             \
	(const struct device_word[])                                           \
	{                                                                      \
		__VA_ARGS__,                                                   \
		{                                                              \
			0                                                      \
		}                                                              \
	}

/* Indexed by their first letter. */
static const struct device_word *const words[128] = {
	['('] = WORDS({"(Phone;", SAYS_PHONE, ANYWHERE},
		      {"(Tablet;", SAYS_TABLET, ANYWHERE},
		      {"(PC;", SAYS_DESKTOP, ANYWHERE},
		      {"(2in1;", SAYS_DESKTOP, ANYWHERE},
		      {"(TV;", SAYS_TV, ANYWHERE},
		      {"(Wearable;", SAYS_WEARABLE, ANYWHERE}),
	['A'] = WORDS({"Android", SAYS_ANDROID, NOT_OF_IOS},
		      /* UC Browser */
		      {"Adr ", SAYS_ANDROID, BEGINS},
		      {"AlipayClient", SAYS_ALIPAY, ANYWHERE},
		      {"Apple Watch", SAYS_NEITHER, ANYWHERE},
		      {"Apple TV", SAYS_NEITHER, ANYWHERE},
		      {"AppleTV", SAYS_NEITHER, ANYWHERE}),
	['C'] = WORDS({"CPU OS ", SAYS_IOS, ANYWHERE},
		      {"CriOS/", SAYS_IOS, ANYWHERE},
		      {"CFNetwork/", SAYS_CFNETWORK, ANYWHERE}),
	['E'] = WORDS({"EdgiOS/", SAYS_IOS, ANYWHERE}),
	['F'] = WORDS({"FxiOS/", SAYS_IOS, ANYWHERE}),
	/* Google's app. */
	['G'] = WORDS({"GSA/", SAYS_IOS_APP, BEGINS}),
	/* UC Browser */
	['J'] = WORDS({"JUC (", SAYS_ANDROID, BEGINS},
		      {"JUC(", SAYS_ANDROID, BEGINS}),
	['K'] = WORDS({"KAIOS", SAYS_NEITHER, ANYWHERE}),
	['M'] = WORDS({"Macintosh", SAYS_MACINTOSH, ANYWHERE},
		      {"Mobile/", SAYS_MOBILE, ANYWHERE},
		      {"MicroMessenger", SAYS_WECHAT, ANYWHERE}),
	['O'] = WORDS({"OpenHarmony", SAYS_HARMONYOS, ANYWHERE},
		      {"OPiOS/", SAYS_IOS, ANYWHERE},
		      /* Opera Touch */
		      {"OPT/", SAYS_IOS_APP, BEGINS},
		      {"OculusBrowser/", SAYS_ANDROID, ANYWHERE}),
	['Q'] = WORDS({"QQ/", SAYS_QQ, ANYWHERE}),
	/* Kindle */
	['S'] = WORDS({"Silk-Accelerated", SAYS_ANDROID, ANYWHERE}),
	['W'] = WORDS({"Windows Phone", SAYS_NEITHER, ANYWHERE},
		      {"Windows NT", SAYS_WINDOWS, ANYWHERE},
		      {"Windows 9", SAYS_WINDOWS, ANYWHERE}),
	['_'] = WORDS({"__weibo__", SAYS_WEIBO, ANYWHERE}),
	['a'] = WORDS({"android mobile/", SAYS_ANDROID, ANYWHERE},
		      {"arm64", SAYS_PROCESSOR, ANYWHERE}),
	['i'] = WORDS({"iPhone", SAYS_IOS, BEGINS}, {"iPad", SAYS_IOS, BEGINS},
		      {"iPod", SAYS_IOS, BEGINS}, {"iOS", SAYS_IOS, VERSIONED},
		      {"i386", SAYS_PROCESSOR, ANYWHERE}),
	['m'] = WORDS({"miniProgram", SAYS_MINI_PROGRAM, ANYWHERE}),
	['x'] = WORDS({"x86_64", SAYS_PROCESSOR, ANYWHERE}),
};

struct text {
	const char *start, *end;
};

static bool is_behind(const struct text *t, const char *at, const char *what)
{
	size_t len = strlen(what);

	return (size_t)(at - t->start) >= len && !memcmp(at - len, what, len);
}

static bool is_word_start(const struct text *t, const char *at)
{
	return at == t->start || !isalpha((unsigned char)at[-1]);
}

static bool is_versioned(const struct text *t, const char *behind)
{
	if (behind == t->end)
		return false;
	return *behind == ';' || *behind == '/' ||
	       (*behind == ' ' && behind + 1 < t->end &&
		isdigit((unsigned char)behind[1]));
}

static bool is_at(const struct text *t, const char *at,
		  const struct device_word *w)
{
	size_t len = strlen(w->text);

	if ((size_t)(t->end - at) < len || memcmp(at, w->text, len) != 0)
		return false;
	switch (w->where) {
	case BEGINS:
		return is_word_start(t, at);
	case VERSIONED:
		return is_word_start(t, at) && is_versioned(t, at + len);
	case NOT_OF_IOS:
		return !is_behind(t, at, "iOS-");
	case ANYWHERE:
		break;
	}
	return true;
}

static unsigned says_of(const struct text *t)
{
	unsigned says = 0;

	for (const char *at = t->start; at < t->end; at++) {
		unsigned char first = (unsigned char)*at;
		const struct device_word *w = first < 128 ? words[first] : NULL;

		for (; w && w->text; w++)
			if (is_at(t, at, w))
				says |= w->says;
	}
	return says;
}

static enum device_system system_of(unsigned says)
{
	bool mac = says & SAYS_MACINTOSH;

	if (says & SAYS_NEITHER)
		return SYSTEM_UNKNOWN;
	if (says & SAYS_ANDROID)
		return SYSTEM_ANDROID;
	if (says & SAYS_HARMONYOS)
		return SYSTEM_HARMONYOS;
	if (says & SAYS_IOS || (mac && says & (SAYS_IOS_APP | SAYS_MOBILE)))
		return SYSTEM_IOS;
	if (says & SAYS_CFNETWORK && !(says & SAYS_PROCESSOR) && !mac)
		return SYSTEM_IOS;
	return says & SAYS_WINDOWS ? SYSTEM_WINDOWS : SYSTEM_UNKNOWN;
}

/* Returns the device, which HarmonyOS names first. */
static enum device_kind kind_of(unsigned says, enum device_system system)
{
	/* In an app's window a phone's agent contains "iPhone". */
	if (system == SYSTEM_IOS && says & SAYS_MACINTOSH &&
	    !(says & (SAYS_IOS | SAYS_IOS_APP)))
		return DEVICE_KIND_TABLET;
	if (system != SYSTEM_HARMONYOS)
		return DEVICE_KIND_UNKNOWN;
	if (says & SAYS_PHONE)
		return DEVICE_KIND_PHONE;
	if (says & SAYS_TABLET)
		return DEVICE_KIND_TABLET;
	if (says & SAYS_DESKTOP)
		return DEVICE_KIND_DESKTOP;
	if (says & SAYS_TV)
		return DEVICE_KIND_TV;
	return says & SAYS_WEARABLE ? DEVICE_KIND_WEARABLE
				    : DEVICE_KIND_UNKNOWN;
}

static enum in_app in_app_of(unsigned says)
{
	if (says & SAYS_WECHAT)
		return says & SAYS_MINI_PROGRAM ? IN_APP_MINI_PROGRAM
						: IN_APP_WECHAT;
	if (says & SAYS_QQ)
		return IN_APP_QQ;
	if (says & SAYS_WEIBO)
		return IN_APP_WEIBO;
	return says & SAYS_ALIPAY ? IN_APP_ALIPAY : IN_APP_NONE;
}

struct agent_device agent_device_of(const char *text, size_t len)
{
	const struct text t = {text, len ? text + len : text};
	unsigned says = says_of(&t);
	enum device_system system = system_of(says);

	return (struct agent_device){system, kind_of(says, system),
				     in_app_of(says)};
}
