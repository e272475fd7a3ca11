/* link_targets.c - where a link leads: its URL, and those of some devices. */
#include <string.h>

#include "allocator/link/link_reading.h"
#include "common/unconst.h"

/* Puts the URL's normal form in its place. */
static int check_url(const struct link_reading *r, json_t *value,
		     const char **ret, struct error *err)
{
	const char *url = json_string_value(value);
	size_t len = json_string_length(value);
	struct buf normal = {0};
	int status;

	if (!json_is_string(value))
		return error_set(err, ERROR_INPUT, "expected a string");
	status = url_policy_check(r->rules->urls, url, len, &normal, err);
	if (status == 0 && (normal.len != len || memcmp(normal.data, url, len)))
		status = json_string_setn(value, normal.data, normal.len)
				 ? error_set_nomem(err)
				 : 0;
	buf_free(&normal);
	if (status)
		return -1;
	*ret = json_string_value(value);
	return 0;
}

static int set_url(const struct link_reading *r, const char *url,
		   struct error *err)
{
	struct link_fields *f = r->fields;

	if (*f->url && strcmp(f->url, url) != 0)
		return error_set(err, ERROR_INPUT,
				 "targets: default: is the same as url; give "
				 "one of them");
	f->url = url;
	f->given |= FIELD_URL;
	return 0;
}

int link_reading_url(struct link_reading *r, struct error *err)
{
	const char *url = "";

	if (check_url(r, r->value, &url, err))
		return error_wrap(err, "url");
	return set_url(r, url, err);
}

static const struct {
	const char *name;
	Shortloop__Device device;
} devices[] = {
	{"default", SHORTLOOP__DEVICE__DEVICE_ANY},
	{"ios", SHORTLOOP__DEVICE__DEVICE_IOS},
	{"android", SHORTLOOP__DEVICE__DEVICE_ANDROID},
	{"wechat", SHORTLOOP__DEVICE__DEVICE_WECHAT},
};

static int add_target(const struct link_reading *r, Shortloop__Device device,
		      const char *url, struct error *err)
{
	struct link_fields *f = r->fields;
	Shortloop__Target *target;

	if (device == SHORTLOOP__DEVICE__DEVICE_ANY)
		return set_url(r, url, err);
	target = &f->targets[f->target_count];
	shortloop__target__init(target);
	target->device = device;
	target->url = unconst(url);
	f->target_list[f->target_count++] = target;
	return 0;
}

static int read_target(const struct link_reading *r, const char *name,
		       json_t *value, struct error *err)
{
	const char *url = "";

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		if (strcmp(devices[i].name, name) != 0)
			continue;
		if (check_url(r, value, &url, err))
			return error_wrap(err, "targets: %s", name);
		return add_target(r, devices[i].device, url, err);
	}
	return error_set(err, ERROR_INPUT,
			 "targets: %.64s: expected ios, android, wechat or "
			 "default",
			 name);
}

int link_reading_targets(struct link_reading *r, struct error *err)
{
	const char *name;
	json_t *value;

	if (!json_is_object(r->value))
		return link_reading_refuse(r, "an object of URLs by device",
					   err);
	json_object_foreach(r->value, name, value)
	{
		if (read_target(r, name, value, err))
			return -1;
	}
	return 0;
}
