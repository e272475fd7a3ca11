#include "redirector/device.h"

#include <stdbool.h>
#include <string.h>

static bool says(struct http_slice text, const char *token)
{
	return text.len && memmem(text.data, text.len, token, strlen(token));
}

Shortloop__Device device_of(struct http_slice user_agent)
{
	if (says(user_agent, "MicroMessenger"))
		return SHORTLOOP__DEVICE__DEVICE_WECHAT;
	if (says(user_agent, "iPhone") || says(user_agent, "iPad") ||
	    says(user_agent, "iPod"))
		return SHORTLOOP__DEVICE__DEVICE_IOS;
	if (says(user_agent, "Android"))
		return SHORTLOOP__DEVICE__DEVICE_ANDROID;
	return SHORTLOOP__DEVICE__DEVICE_ANY;
}
