#include "collector/enrich/device_class.h"

#include <stdbool.h>
#include <string.h>

/* Lists end with NULL. */
static const char *const console_words[] = {
	"PlayStation", "PLAYSTATION", "Xbox", "Nintendo", "Steam Deck", NULL};
static const char *const tv_words[] = {
	"SmartTV", "SMART-TV", "Smart TV",   "Smart-TV", "HbbTV",
	"AppleTV", "Apple TV", "BRAVIA",     "GoogleTV", "Google TV",
	"CrKey",   "AFTT",     "AFTS",	     "AFTM",	 "AFTB",
	"AFTKA",   "AFTSS",    "Android TV", "Web0S",	 "webOS.TV",
	"NetCast", "Roku/",    "Viera",	     "NetTV",	 "Chromecast",
	NULL};
static const char *const tv_systems[] = {"tvOS",     "ATV OS X", "Roku",
					 "Roku OS",  "webOS",	 "Chromecast",
					 "GoogleTV", "HbbTV",	 NULL};
static const char *const wearable_systems[] = {"WatchOS", "watchOS", "Wear OS",
					       NULL};
static const char *const wearable_words[] = {
	"Apple Watch", "Galaxy Watch", "SM-R8", "SM-R9", "Wear OS", NULL};
static const char *const tablet_words[] = {
	"iPad",	   "Tablet",  "tablet",		  "Kindle", "PlayBook",
	"Nexus 7", "Nexus 9", "Nexus 10",	  "SM-T",   "SM-X",
	"KFTT",	   "KFOT",    "Silk-Accelerated", "GT-P",   NULL};
static const char *const mobile_words[] = {"Mobile", "Mobi", "Phone", NULL};
static const char *const mobile_systems[] = {"iOS",
					     "Windows Phone",
					     "Windows Mobile",
					     "BlackBerry OS",
					     "BlackBerry Tablet OS",
					     "KaiOS",
					     "Symbian OS",
					     "Symbian^3",
					     "Firefox OS",
					     "HarmonyOS",
					     "Sailfish",
					     "Bada",
					     "Windows CE",
					     "Maemo",
					     "MeeGo",
					     "Nokia Series 40",
					     "Brew MP",
					     NULL};
static const char *const desktop_systems[] = {
	"Windows",    "Mac OS X", "Mac OS",    "Linux",	     "Ubuntu",
	"Fedora",     "Debian",	  "Chrome OS", "FreeBSD",    "OpenBSD",
	"NetBSD",     "Solaris",  "Kubuntu",   "Gentoo",     "Red Hat",
	"CentOS",     "SUSE",	  "Slackware", "Arch Linux", "Mandriva",
	"Linux Mint", NULL};

static bool holds(const char *text, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (memmem(text, len, *words, strlen(*words)))
			return true;
	return false;
}

static bool is_one_of(const struct ua_result *ua, enum ua_field field,
		      const char *const *values)
{
	for (; *values; values++)
		if (ua_is(ua, field, *values))
			return true;
	return false;
}

static bool is_console(const struct ua_result *ua)
{
	struct ua_text device = ua_get(ua, UA_DEVICE_FAMILY);
	struct ua_text model = ua_get(ua, UA_DEVICE_MODEL);

	return holds(device.data, device.len, console_words) ||
	       holds(model.data, model.len, console_words);
}

/* Android says "Mobile" on a phone and nothing on a tablet. */
static const char *class_of_android(const char *text, size_t len)
{
	if (holds(text, len, tablet_words))
		return "tablet";
	return holds(text, len, mobile_words) ? "mobile" : "tablet";
}

const char *device_class(const struct ua_result *ua, const char *text,
			 size_t len)
{
	if (!len)
		return "other";
	if (is_console(ua))
		return "console";
	if (is_one_of(ua, UA_OS_FAMILY, tv_systems) ||
	    holds(text, len, tv_words))
		return "tv";
	if (is_one_of(ua, UA_OS_FAMILY, wearable_systems) ||
	    holds(text, len, wearable_words))
		return "wearable";
	if (ua_is(ua, UA_OS_FAMILY, "Android"))
		return class_of_android(text, len);
	if (ua_is(ua, UA_DEVICE_FAMILY, "iPad") ||
	    ua_is(ua, UA_OS_FAMILY, "BlackBerry Tablet OS") ||
	    ua_is(ua, UA_DEVICE_FAMILY, "Kindle"))
		return "tablet";
	if (is_one_of(ua, UA_OS_FAMILY, mobile_systems) ||
	    ua_is(ua, UA_DEVICE_FAMILY, "Generic Smartphone") ||
	    ua_is(ua, UA_DEVICE_FAMILY, "Generic Feature Phone"))
		return "mobile";
	return is_one_of(ua, UA_OS_FAMILY, desktop_systems) ? "desktop"
							    : "other";
}

bool device_is_held(const struct ua_result *ua)
{
	return ua_get(ua, UA_DEVICE_BRAND).len > 0 &&
	       !ua_is(ua, UA_DEVICE_BRAND, "Spider") &&
	       !ua_is(ua, UA_DEVICE_BRAND, "Generic") &&
	       !ua_is(ua, UA_DEVICE_BRAND, "Apple");
}
