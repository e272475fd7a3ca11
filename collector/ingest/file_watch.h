/*
 * file_watch.h - have files been replaced?  By what stat says of them, so that
 * a new file renamed over the old one is noticed wherever it lies, and a link
 * that is turned elsewhere too.
 *
 * A file that is not there is waited for.  One that looks otherwise at two
 * looks in a row is still being written, and waited for as well.
 */
#ifndef COLLECTOR_INGEST_FILE_WATCH_H
#define COLLECTOR_INGEST_FILE_WATCH_H

#include <stdbool.h>

#include "common/config/setting.h"
#include "common/error.h"

struct file_watch;

/* From now on.  `files` must outlive it. */
struct file_watch *file_watch_new(const struct setting_strings *files,
				  struct error *err);
void file_watch_free(struct file_watch *w); /* NULL accepted */

/* True once for each time that files were replaced.  To be called every few
 * seconds. */
bool file_watch_changed(struct file_watch *w);

/* They are about to be read as they are now. */
void file_watch_seen(struct file_watch *w);

#endif
