#include "linkstore/visit/visit_device.h"

static Shortloop__Device target_of(enum device_system system)
{
	switch (system) {
	case SYSTEM_IOS:
		return SHORTLOOP__DEVICE__DEVICE_IOS;
	case SYSTEM_ANDROID:
		return SHORTLOOP__DEVICE__DEVICE_ANDROID;
	case SYSTEM_HARMONYOS:
	case SYSTEM_WINDOWS:
	case SYSTEM_UNKNOWN:
		break;
	}
	return SHORTLOOP__DEVICE__DEVICE_ANY;
}

struct device device_of(struct http_slice user_agent)
{
	struct agent_device is =
		agent_device_of(user_agent.data, user_agent.len);

	return (struct device){target_of(is.system), is.in_app};
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
