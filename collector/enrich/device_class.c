#include "collector/enrich/device_class.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/agent/device.h"

/* Lists end with NULL. */
static const char *const console_words[] = {
	"PlayStation", "PLAYSTATION", "Xbox", "Nintendo", "Steam Deck", NULL};
static const char *const tv_words[] = {
	"SmartTV", "SMART-TV",	 "Smart TV", "Smart-TV",   "HbbTV",
	"AppleTV", "Apple TV",	 "BRAVIA",   "GoogleTV",   "Google TV",
	"CrKey",   "AFTT",	 "AFTS",     "AFTM",	   "AFTB",
	"AFTKA",   "Android TV", "Web0S",    "webOS.TV",   "NetCast",
	"Roku/",   "Viera",	 "NetTV",    "Chromecast", NULL};
static const char *const tv_systems[] = {"tvOS",  "ATV OS X", "Roku",
					 "webOS", "GoogleTV", NULL};
static const char *const wearable_systems[] = {"WatchOS", NULL};
static const char *const wearable_words[] = {
	"Apple Watch", "Galaxy Watch", "SM-R8", "SM-R9", "Wear OS", NULL};
static const char *const tablet_words[] = {
	"iPad",	   "Tablet",  "tablet",		  "Kindle", "PlayBook",
	"Nexus 7", "Nexus 9", "Nexus 10",	  "SM-T",   "SM-X",
	"KFTT",	   "KFOT",    "Silk-Accelerated", "GT-P",   NULL};
static const char *const mobile_words[] = {"Mobi", "Phone", NULL};
static const char *const mobile_systems[] = {
	"iOS",	     "Windows Phone",	"Windows Mobile", "BlackBerry OS",
	"KaiOS",     "Symbian OS",	"Symbian^3",	  "Firefox OS",
	"HarmonyOS", "Sailfish",	"Bada",		  "Maemo",
	"MeeGo",     "Nokia Series 40", "Brew MP",	  NULL};
static const char *const desktop_systems[] = {
	"Windows",    "Mac OS X", "Mac OS",    "Linux",	     "Ubuntu",
	"Fedora",     "Debian",	  "Chrome OS", "FreeBSD",    "OpenBSD",
	"NetBSD",     "Solaris",  "Kubuntu",   "Gentoo",     "Red Hat",
	"CentOS",     "SUSE",	  "Slackware", "Arch Linux", "Mandriva",
	"Linux Mint", NULL};

static bool has_any_word(const char *text, size_t len, const char *const *words)
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

	return has_any_word(device.data, device.len, console_words) ||
	       has_any_word(model.data, model.len, console_words);
}

/* --- systems --------------------------------------------------------------
 */

static const char *name_of_system(enum device_system system)
{
	static const char *const names[] = {
		[SYSTEM_UNKNOWN] = NULL,      [SYSTEM_IOS] = "iOS",
		[SYSTEM_ANDROID] = "Android", [SYSTEM_HARMONYOS] = "HarmonyOS",
		[SYSTEM_WINDOWS] = "Windows",
	};

	return names[system];
}

/* Returns whether the table may correct the rules' result.  The rules name
 * versions of Windows, of Linux and others themselves. */
static bool is_wrong(const struct ua_result *ua, enum device_system system)
{
	static const char *const unsure[] = {"Other", "Linux", "Mac OS X",
					     NULL};

	if (system == SYSTEM_WINDOWS)
		return ua_is(ua, UA_OS_FAMILY, "Android") ||
		       ua_is(ua, UA_OS_FAMILY, "iOS");
	return is_one_of(ua, UA_OS_FAMILY, unsure);
}

/* Returns the version after the name, such as "5.0", or an empty text. */
static struct ua_text version_of_harmonyos(const char *text, size_t len)
{
	static const char name[] = "OpenHarmony ";
	const char *at = memmem(text, len, name, sizeof(name) - 1);
	struct ua_text version = {"", 0};

	if (!at)
		return version;
	version.data = at + sizeof(name) - 1;
	while (version.data + version.len < text + len &&
	       (isdigit((unsigned char)version.data[version.len]) ||
		version.data[version.len] == '.'))
		version.len++;
	return version;
}

/* Sets major and minor; the rest is not used. */
static int set_version(struct ua_result *r, struct ua_text version,
		       struct error *err)
{
	for (enum ua_field f = UA_OS_MAJOR; f <= UA_OS_PATCH_MINOR; f++) {
		const char *dot = memchr(version.data, '.', version.len);
		size_t len = dot ? (size_t)(dot - version.data) : version.len;

		if (ua_set(r, f, version.data, len, err) < 0)
			return -1;
		len += dot != NULL;
		version.data += len;
		version.len -= len;
	}
	return 0;
}

static int set_system(struct ua_result *r, const char *text, size_t len,
		      struct error *err)
{
	enum device_system system = agent_device_of(text, len).system;
	const char *name = name_of_system(system);
	struct ua_text version = {"", 0};

	if (!name || !is_wrong(r, system))
		return 0;
	if (system == SYSTEM_HARMONYOS)
		version = version_of_harmonyos(text, len);
	r->rules[UA_PART_OS] = -1;
	if (ua_set(r, UA_OS_FAMILY, name, strlen(name), err) < 0)
		return -1;
	return set_version(r, version, err);
}

/* Drops the model of Chrome's reduced user agents, "Android 10; K". */
static int drop_model(struct ua_result *r, struct error *err)
{
	if (!ua_is(r, UA_DEVICE_MODEL, "K") ||
	    !ua_is(r, UA_OS_FAMILY, "Android"))
		return 0;
	if (ua_set(r, UA_DEVICE_FAMILY, "Other", strlen("Other"), err) < 0)
		return -1;
	return ua_set(r, UA_DEVICE_MODEL, "", 0, err);
}

int device_parse(struct ua_parser *parser, const char *text, size_t len,
		 struct ua_result *result, struct error *err)
{
	if (ua_parse(parser, text, len, result, err) < 0 ||
	    set_system(result, text, len, err) < 0)
		return -1;
	return drop_model(result, err);
}

/* --- classes --------------------------------------------------------------
 */

/* Android writes "Mobile" on a phone and nothing on a tablet. */
static const char *class_of_android(const char *text, size_t len)
{
	if (has_any_word(text, len, tablet_words))
		return "tablet";
	return has_any_word(text, len, mobile_words) ? "mobile" : "tablet";
}

static const char *class_of_kind(enum device_kind kind)
{
	static const char *const classes[] = {
		[DEVICE_KIND_UNKNOWN] = NULL,
		[DEVICE_KIND_PHONE] = "mobile",
		[DEVICE_KIND_TABLET] = "tablet",
		[DEVICE_KIND_DESKTOP] = "desktop",
		[DEVICE_KIND_TV] = "tv",
		[DEVICE_KIND_WEARABLE] = "wearable",
	};

	return classes[kind];
}

const char *device_class(const struct ua_result *ua, const char *text,
			 size_t len)
{
	const char *known = class_of_kind(agent_device_of(text, len).kind);

	if (!len)
		return "other";
	if (known)
		return known;
	if (is_console(ua))
		return "console";
	if (is_one_of(ua, UA_OS_FAMILY, tv_systems) ||
	    has_any_word(text, len, tv_words))
		return "tv";
	if (is_one_of(ua, UA_OS_FAMILY, wearable_systems) ||
	    has_any_word(text, len, wearable_words))
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
