#include "linkstore/link/names.h"

const char *link_state_name(Shortloop__LinkState state)
{
	switch ((int)state) {
	case SHORTLOOP__LINK_STATE__LINK_LIVE:
		return "live";
	case SHORTLOOP__LINK_STATE__LINK_DELETED:
		return "deleted";
	case SHORTLOOP__LINK_STATE__LINK_BLOCKED:
		return "blocked";
	case SHORTLOOP__LINK_STATE__LINK_PAUSED:
		return "paused";
	default:
		return "unknown";
	}
}

const char *link_device_name(Shortloop__Device device)
{
	switch ((int)device) {
	case SHORTLOOP__DEVICE__DEVICE_ANY:
		return "default";
	case SHORTLOOP__DEVICE__DEVICE_IOS:
		return "ios";
	case SHORTLOOP__DEVICE__DEVICE_ANDROID:
		return "android";
	case SHORTLOOP__DEVICE__DEVICE_WECHAT:
		return "wechat";
	default:
		return "unknown";
	}
}

const char *link_source_name(Shortloop__LinkSource source)
{
	switch ((int)source) {
	case SHORTLOOP__LINK_SOURCE__SOURCE_SINGLE:
		return "single";
	case SHORTLOOP__LINK_SOURCE__SOURCE_BATCH:
		return "batch";
	default:
		return "unknown";
	}
}

const char *link_query_pass_name(Shortloop__QueryPass pass)
{
	switch ((int)pass) {
	case SHORTLOOP__QUERY_PASS__QUERY_DROPPED:
		return "none";
	case SHORTLOOP__QUERY_PASS__QUERY_ADDED:
		return "add";
	case SHORTLOOP__QUERY_PASS__QUERY_OVERRIDES:
		return "override";
	default:
		return "unknown";
	}
}

uint32_t link_redirect_status(uint32_t recorded)
{
	return recorded ? recorded : LINK_REDIRECT_STATUS;
}
