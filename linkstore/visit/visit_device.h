/*
 * visit_device.h - which of a link's targets is for a visitor's device,
 * according to its User-Agent (common/agent/device.h).
 */
#ifndef LINKSTORE_VISIT_VISIT_DEVICE_H
#define LINKSTORE_VISIT_VISIT_DEVICE_H

#include "common/agent/device.h"
#include "common/http/request.h"
#include "schemas/link.pb-c.h"

/* Values of Shortloop__Device: 0 to DEVICES - 1. */
#define DEVICES 4

struct device {
	Shortloop__Device system; /* iOS, Android; DEVICE_ANY: another */
	enum in_app in_app;
};

struct device device_of(struct http_slice user_agent);

/* Returns "browser", "wechat", "mini-program", "qq", "weibo" or "alipay". */
const char *in_app_name(enum in_app in_app);

#endif
