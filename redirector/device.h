/*
 * device.h - what a visitor's device is taken for, by its User-Agent.
 *
 * Only as good as that header is.  An iPad that asks for desktop sites, as they
 * do from iPadOS 13 on, says "Macintosh" like any Mac and cannot be told.
 *
 * Apps that show web pages in a window of their own say so.  From most of these
 * no other app can be opened.
 */
#ifndef REDIRECTOR_DEVICE_H
#define REDIRECTOR_DEVICE_H

#include "common/http/http_server.h"
#include "schemas/link.pb-c.h"

/* Values of Shortloop__Device: 0 to DEVICES - 1. */
#define DEVICES 4

enum in_app {
	IN_APP_NONE, /* a browser */
	IN_APP_WECHAT,
	IN_APP_MINI_PROGRAM, /* a page that a mini program of WeChat shows */
	IN_APP_QQ,
	IN_APP_WEIBO,
	IN_APP_ALIPAY,
	IN_APPS,
};

struct device {
	Shortloop__Device system; /* iOS, Android; DEVICE_ANY: another */
	enum in_app in_app;
};

/* Reads the header once, from its first byte to its last.  iOS goes before
 * Android, which some browsers of other systems name, too. */
struct device device_of(struct http_slice user_agent);

/* "browser", "wechat", "mini-program", "qq", "weibo", "alipay". */
const char *in_app_name(enum in_app in_app);

#endif
