#include "redirector/visit/deny_file.h"

#include <stdlib.h>

#include "redirector/visit/deny_list.h"

struct deny_file {
	const char *path;
	struct versions *lists;
};

static void list_free(void *value)
{
	deny_list_free(value);
}

struct deny_file *deny_file_new(const char *path, struct error *err)
{
	struct deny_file *file = calloc(1, sizeof(*file));
	struct deny_list *first;

	if (!file) {
		error_set_nomem(err);
		return NULL;
	}
	file->path = path;
	first = deny_list_load(path, err);
	if (first)
		file->lists = versions_new(first, list_free, err);
	if (file->lists)
		return file;
	free(file);
	return NULL;
}

void deny_file_free(struct deny_file *file)
{
	if (!file)
		return;
	versions_free(file->lists);
	free(file);
}

int deny_file_reload(struct deny_file *file, struct error *err)
{
	struct deny_list *fresh = deny_list_load(file->path, err);

	return fresh ? versions_replace(file->lists, fresh, err) : -1;
}

size_t deny_file_count(struct deny_file *file)
{
	struct versions_user user = {.of = file->lists};
	size_t count = deny_list_count(versions_use(&user));

	versions_leave(&user);
	return count;
}

bool deny_view_has(struct deny_view *view, const struct address *address)
{
	if (!view->file)
		return false;
	view->user.of = view->file->lists;
	return deny_list_has(versions_use(&view->user), address);
}

void deny_view_release(struct deny_view *view)
{
	versions_leave(&view->user);
}
