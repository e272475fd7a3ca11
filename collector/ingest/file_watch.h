/*
 * file_watch.h - detects replaced files.  It compares what stat returns, so it
 * also notices a new file that is renamed over the old one, in any folder, and
 * a symbolic link that points to another file.
 *
 * A missing file counts as unchanged until it is there again.  A file that
 * differs between two checks in a row is still being written, and the watch
 * waits for it as well.
 */
#ifndef COLLECTOR_INGEST_FILE_WATCH_H
#define COLLECTOR_INGEST_FILE_WATCH_H

#include <stdbool.h>

#include "common/config/setting.h"
#include "common/error.h"

struct file_watch;

/* Starts to watch.  `files` must outlive it. */
struct file_watch *file_watch_new(const struct setting_strings *files,
				  struct error *err);
void file_watch_free(struct file_watch *w); /* NULL accepted */

/* Returns true once for each time that files were replaced.  Call it every few
 * seconds. */
bool file_watch_changed(struct file_watch *w);

/* Takes the present state as known: the caller is about to read the files. */
void file_watch_seen(struct file_watch *w);

#endif
