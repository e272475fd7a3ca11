#include "collector/ingest/file_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct file_state {
	bool there;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct watched {
	/* State when the file was last read or reported. */
	struct file_state seen;
	struct file_state last; /* state at the last check */
};

struct file_watch {
	const struct setting_strings *files;
	struct watched *watched;
};

static struct file_state look_at(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct file_state){0};
	return (struct file_state){true, st.st_dev, st.st_ino, st.st_size,
				   st.st_mtim};
}

static bool is_same_file_state(const struct file_state *a,
			       const struct file_state *b)
{
	return a->there == b->there && a->device == b->device &&
	       a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

struct file_watch *file_watch_new(const struct setting_strings *files,
				  struct error *err)
{
	struct file_watch *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->files = files;
	w->watched = calloc(files->count + 1, sizeof(*w->watched));
	if (!w->watched) {
		error_set_nomem(err);
		free(w);
		return NULL;
	}
	file_watch_seen(w);
	return w;
}

void file_watch_free(struct file_watch *w)
{
	if (!w)
		return;
	free(w->watched);
	free(w);
}

bool file_watch_changed(struct file_watch *w)
{
	bool changed = false;

	for (size_t i = 0; i < w->files->count; i++) {
		struct watched *f = &w->watched[i];
		struct file_state now = look_at(w->files->items[i]);
		bool settled = now.there && is_same_file_state(&now, &f->last);

		f->last = now;
		if (!settled || is_same_file_state(&now, &f->seen))
			continue;
		f->seen = now;
		changed = true;
	}
	return changed;
}

void file_watch_seen(struct file_watch *w)
{
	for (size_t i = 0; i < w->files->count; i++) {
		struct watched *f = &w->watched[i];

		f->seen = f->last = look_at(w->files->items[i]);
	}
}
