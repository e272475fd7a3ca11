/*
 * device.h - what a visitor's device is taken for, by its User-Agent: the one
 * table that redirectors choose a link's target by, and that collectors hold
 * the rules of uap-core against, so that they do not disagree.
 *
 * Only as good as that header is.  An iPad that asks for desktop sites, as they
 * do from iPadOS 13 on, says "Macintosh" like any Mac; it is told only by what
 * other browsers than Safari, and apps, say beside it.
 *
 * Apps that show web pages in a window of their own say so.  From most of these
 * no other app can be opened.
 */
#ifndef COMMON_AGENT_DEVICE_H
#define COMMON_AGENT_DEVICE_H

#include <stddef.h>

enum device_system {
	SYSTEM_UNKNOWN,
	SYSTEM_IOS, /* with iPadOS */
	SYSTEM_ANDROID,
	SYSTEM_HARMONYOS, /* that runs no apps of Android */
	SYSTEM_WINDOWS,
};

/* What HarmonyOS says of its device, and an iPad that says Macintosh. */
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
	IN_APP_MINI_PROGRAM, /* a page that a mini program of WeChat shows */
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
 * Reads the text once, from its first byte to its last.  Android goes before
 * iOS, whose words are names of devices, too; both go after systems that name
 * them for compatibility's sake (Windows Phone).
 */
struct agent_device agent_device_of(const char *text, size_t len);

#endif
