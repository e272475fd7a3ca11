#include "redirector/visit/deny_file.h"

#include "redirector/visit/deny_list.h"

static void *load_list(const void *path, struct error *err)
{
	return deny_list_load(path, err);
}

static void free_list(void *list)
{
	deny_list_free(list);
}

static void describe_list(const void *list, struct log_field ret[RELOAD_FIELDS])
{
	ret[0] = log_int("networks", (int64_t)deny_list_count(list));
}

const struct reloadable_kind deny_file_kind = {
	.what = "denied networks",
	.load = load_list,
	.free = free_list,
	.describe = describe_list,
};

void deny_view_join(struct deny_view *view, struct reloadable *file)
{
	*view = (struct deny_view){0};
	if (file)
		reloadable_join(file, &view->user);
}

bool deny_view_has_list(const struct deny_view *view)
{
	return view->user.of;
}

bool deny_view_has(struct deny_view *view, const struct address *address)
{
	return view->user.of &&
	       deny_list_has(versions_use(&view->user), address);
}

void deny_view_release(struct deny_view *view)
{
	versions_leave(&view->user);
}
