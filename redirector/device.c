#include "redirector/device.h"

#include <stdbool.h>
#include <string.h>

enum says {
	SAYS_IOS = 1 << 0,
	SAYS_ANDROID = 1 << 1,
	SAYS_WECHAT = 1 << 2,
	SAYS_MINI_PROGRAM = 1 << 3,
	SAYS_QQ = 1 << 4,
	SAYS_WEIBO = 1 << 5,
	SAYS_ALIPAY = 1 << 6,
};

static bool is_at(const char *at, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - at) >= len && !memcmp(at, word, len);
}

static unsigned says_at(const char *at, const char *end)
{
	switch (*at) {
	case 'A':
		if (is_at(at, end, "Android"))
			return SAYS_ANDROID;
		return is_at(at, end, "AlipayClient") ? SAYS_ALIPAY : 0;
	case 'M':
		return is_at(at, end, "MicroMessenger") ? SAYS_WECHAT : 0;
	case 'Q':
		return is_at(at, end, "QQ/") ? SAYS_QQ : 0;
	case '_':
		return is_at(at, end, "__weibo__") ? SAYS_WEIBO : 0;
	case 'i':
		return is_at(at, end, "iPhone") || is_at(at, end, "iPad") ||
				       is_at(at, end, "iPod")
			       ? SAYS_IOS
			       : 0;
	case 'm':
		return is_at(at, end, "miniProgram") ? SAYS_MINI_PROGRAM : 0;
	default:
		return 0;
	}
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

struct device device_of(struct http_slice user_agent)
{
	const char *end = user_agent.data + user_agent.len;
	struct device device;
	unsigned says = 0;

	for (const char *at = user_agent.data; at < end; at++)
		says |= says_at(at, end);
	device.system = SHORTLOOP__DEVICE__DEVICE_ANY;
	if (says & SAYS_IOS)
		device.system = SHORTLOOP__DEVICE__DEVICE_IOS;
	else if (says & SAYS_ANDROID)
		device.system = SHORTLOOP__DEVICE__DEVICE_ANDROID;
	device.in_app = in_app_of(says);
	return device;
}

const char *in_app_name(enum in_app in_app)
{
	static const char *const names[IN_APPS] = {
		[IN_APP_NONE] = "browser",
		[IN_APP_WECHAT] = "wechat",
		[IN_APP_MINI_PROGRAM] = "mini-program",
		[IN_APP_QQ] = "qq",
		[IN_APP_WEIBO] = "weibo",
		[IN_APP_ALIPAY] = "alipay",
	};

	return names[in_app];
}
