/*
 * device.h - classifies a visitor's device by its User-Agent.  This is the one
 * table by which redirectors choose a link's target, and which collectors
 * compare with the rules of uap-core, so that both agree.
 *
 * The result is only as good as that header.  An iPad that requests desktop
 * sites, the default from iPadOS 13 on, sends "Macintosh" like any Mac; only
 * additions by apps and by browsers other than Safari distinguish it.
 *
 * Apps that show web pages in a window of their own name themselves in the
 * agent.  From most of these no other app can be opened.
 */
#ifndef COMMON_AGENT_DEVICE_H
#define COMMON_AGENT_DEVICE_H

#include <stddef.h>

enum device_system {
	SYSTEM_UNKNOWN,
	SYSTEM_IOS, /* or iPadOS */
	SYSTEM_ANDROID,
	SYSTEM_HARMONYOS, /* a version that runs no Android apps */
	SYSTEM_WINDOWS,
};

/* The device that HarmonyOS names; or an iPad that sends Macintosh. */
enum device_kind {
	DEVICE_KIND_UNKNOWN,
	DEVICE_KIND_PHONE,
	DEVICE_KIND_TABLET,
	DEVICE_KIND_DESKTOP,
	DEVICE_KIND_TV,
	DEVICE_KIND_WEARABLE,
};

enum in_app {
	IN_APP_NONE, /* a browser */
	IN_APP_WECHAT,
	IN_APP_MINI_PROGRAM, /* a page shown by a mini program of WeChat */
	IN_APP_QQ,
	IN_APP_WEIBO,
	IN_APP_ALIPAY,
	IN_APPS,
};

struct agent_device {
	enum device_system system;
	enum device_kind kind;
	enum in_app in_app;
};

/*
 * Reads the text once, from its first byte to its last.  Android has priority
 * over iOS, whose words are also names of devices; systems that name either for
 * compatibility (Windows Phone) have priority over both.
 */
struct agent_device agent_device_of(const char *text, size_t len);

#endif
