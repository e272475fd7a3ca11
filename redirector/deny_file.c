#include "redirector/deny_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "redirector/deny_list.h"

struct shared_list {
	struct deny_list *list;
	size_t users; /* under the file's lock */
};

struct deny_file {
	const char *path;
	_Atomic uint64_t version; /* of `present`; from 1 on */
	pthread_mutex_t lock;	  /* of what follows, and of `version` */
	struct shared_list *present;
};

/* One user is the caller. */
static struct shared_list *load(const char *path, struct error *err)
{
	struct shared_list *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->users = 1;
	s->list = deny_list_load(path, err);
	if (s->list)
		return s;
	free(s);
	return NULL;
}

static void release(struct deny_file *file, struct shared_list *s)
{
	bool last;

	if (!s)
		return;
	pthread_mutex_lock(&file->lock);
	last = --s->users == 0;
	pthread_mutex_unlock(&file->lock);
	if (!last)
		return;
	deny_list_free(s->list);
	free(s);
}

struct deny_file *deny_file_new(const char *path, struct error *err)
{
	struct deny_file *file = calloc(1, sizeof(*file));

	if (!file) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&file->lock, NULL);
	file->path = path;
	if (deny_file_reload(file, err) == 0)
		return file;
	deny_file_free(file);
	return NULL;
}

void deny_file_free(struct deny_file *file)
{
	if (!file)
		return;
	release(file, file->present);
	pthread_mutex_destroy(&file->lock);
	free(file);
}

int deny_file_reload(struct deny_file *file, struct error *err)
{
	struct shared_list *fresh = load(file->path, err);
	struct shared_list *old;

	if (!fresh)
		return -1;
	pthread_mutex_lock(&file->lock);
	old = file->present;
	file->present = fresh;
	atomic_fetch_add(&file->version, 1);
	pthread_mutex_unlock(&file->lock);
	release(file, old);
	return 0;
}

size_t deny_file_count(struct deny_file *file)
{
	size_t count;

	pthread_mutex_lock(&file->lock);
	count = deny_list_count(file->present->list);
	pthread_mutex_unlock(&file->lock);
	return count;
}

static void see_present(struct deny_view *view)
{
	struct deny_file *file = view->file;
	struct shared_list *old = view->list;

	pthread_mutex_lock(&file->lock);
	view->list = file->present;
	view->list->users++;
	view->version = atomic_load(&file->version);
	pthread_mutex_unlock(&file->lock);
	release(file, old);
}

bool deny_view_has(struct deny_view *view, const struct address *address)
{
	if (!view->file)
		return false;
	if (view->version != atomic_load(&view->file->version))
		see_present(view);
	return deny_list_has(view->list->list, address);
}

void deny_view_release(struct deny_view *view)
{
	if (view->file)
		release(view->file, view->list);
	view->list = NULL;
	view->version = 0;
}
