/*
 * reloadable.h - what a program reads at its start from a file that a setting
 * names, and again at SIGHUP: if the new file has a mistake, the old value
 * stays in use.
 *
 * A kind says how it is read.  From the kind come the value in use, which
 * threads share, the check of --check, and the lines of the log:
 *
 *	"<what> reloaded"			fields that describe the value
 *	"<what> rejected, the old ones stay"	the error
 */
#ifndef COMMON_APP_RELOADABLE_H
#define COMMON_APP_RELOADABLE_H

#include <stdbool.h>

#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "common/versions.h"

#define RELOAD_FIELDS 2 /* in a line of the log; unused ones are zeroed */

/* Where results go; both outlive their users. */
struct reload_report {
	struct log *log;
	struct metric *failures; /* counts rejections; NULL: none */
};

void reload_report_done(const struct reload_report *to, const char *what,
			const struct log_field fields[RELOAD_FIELDS]);
/* `fields` NULL: none. */
void reload_report_rejected(const struct reload_report *to, const char *what,
			    const struct log_field fields[RELOAD_FIELDS],
			    const struct error *err);

struct reloadable_kind {
	const char *what; /* plural: "denied networks" */
	/* Reads the value; `source` has the settings that name the files. */
	void *(*load)(const void *source, struct error *err);
	void (*free)(void *value);
	/* Returns false if no setting names a file, so that there is nothing to
	 * read again.  NULL: there always is a file. */
	bool (*has_file)(const void *source);
	/* Describes a value for the log, by numbers.  NULL: no fields. */
	void (*describe)(const void *value,
			 struct log_field ret[RELOAD_FIELDS]);
};

/* For --check: loads the value and frees it. */
int reloadable_check(const struct reloadable_kind *kind, const void *source,
		     struct error *err);

struct reloadable;

/* Loads the first value.  `kind` and `source` must outlive it. */
struct reloadable *reloadable_new(const struct reloadable_kind *kind,
				  const void *source, struct error *err);
/* Called after all users have left.  NULL accepted. */
void reloadable_free(struct reloadable *r);

/* Sets the gauge to the number that describes the value, the first field, now
 * and after each reload. */
void reloadable_show(struct reloadable *r, struct metric *gauge);

bool reloadable_has_file(const struct reloadable *r);

/* Loads the value again; on failure the old one stays.  Callable from any
 * thread. */
int reloadable_read(struct reloadable *r, struct error *err);

/* Does the same, and reports the result.  Does nothing for NULL, and if there
 * is no file. */
void reloadable_reload(struct reloadable *r, const struct reload_report *to);

/* Zeroes `user` and makes it a user of the values: versions_use returns the
 * newest. */
void reloadable_join(struct reloadable *r, struct versions_user *user);

/* For a value that reads its file again by itself, and stays as it was on
 * failure. */
struct rereadable_kind {
	const char *what;
	int (*read)(void *value, struct error *err);
	void (*describe)(void *value, struct log_field ret[RELOAD_FIELDS]);
};

/* Reads the value again and reports the result; returns -1 if it was
 * rejected. */
int rereadable_reload(const struct rereadable_kind *kind, void *value,
		      const struct reload_report *to);

#endif
