/*
 * counters_file.h - the counters of one start of a redirector, in a file that
 * another process reports if this one is killed.
 *
 * Each start has a file of its own (owned_files.h), mapped into memory, shared:
 * counting there costs no more than in other memory (hour_counts.h).  Running
 * totals are never moved, so they are right at any moment.  A loss of power is
 * different: counters that it leaves are not reported.
 *
 * The file, in this machine's byte order: struct counters_header of
 * counters_file.c, the two names, each with its terminating 0, and at the next
 * multiple of 64 the struct hour_totals of each writer.
 */
#ifndef REDIRECTOR_COUNTERS_COUNTERS_FILE_H
#define REDIRECTOR_COUNTERS_COUNTERS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "redirector/counters/hour_counts.h"
#include "redirector/counters/owned_files.h"

enum {
	/* The version covers hour_counts.h, too: a struct or an enumerator that
	 * changes there raises it. */
	COUNTERS_FILE_VERSION = 1,
	/* No more files are kept, for redirectors that are killed over and over
	 * while Kafka is away. */
	COUNTERS_FILES_MAX = 64,
};

/* The start of a redirector that counts. */
struct counters_origin {
	const char *instance, *edge;
	uint64_t boot;
	int64_t started_ms;
};

struct counters_file;

/* Makes a file with all of its space allocated on the disk; in memory alone if
 * `dir` is NULL. */
struct counters_file *counters_file_new(const char *dir,
					const struct counters_origin *origin,
					size_t writers, struct error *err);

/*
 * Opens the file of a start that has ended; the caller owns it then.
 * ERROR_BUSY: that start has not ended; ERROR_NOTFOUND: the file is gone
 * meanwhile.  With these errors it is renamed to counters.rejected:
 * ERROR_CONFIG: another version; ERROR_DAMAGED: it is no file of counters, or
 * not whole; ERROR_LATE: the machine was restarted since, so counters may be
 * missing.
 */
struct counters_file *counters_file_open(const char *dir, const char *name,
					 struct error *err);
/* The file stays, without an owner.  NULL accepted. */
void counters_file_free(struct counters_file *f);

/* Lists all files in a folder, whether they have an owner or not, oldest first;
 * the caller releases the list.  When there are too many, it removes the oldest
 * that have no owner, and their number is *ret_removed; the list has them all
 * the same. */
int counters_file_list(const char *dir, struct owned_files *ret,
		       size_t *ret_removed, struct error *err);

/* The strings are valid as long as the file. */
const struct counters_origin *
counters_file_origin(const struct counters_file *f);
struct hour_totals *counters_file_totals(struct counters_file *f,
					 size_t writer);

/* Adds the totals of all writers. */
void counters_file_add_to(const struct counters_file *f, struct hour_table *to);
bool counters_file_is_empty(const struct counters_file *f);
/* True if the counters outlive the process. */
bool counters_file_is_kept(const struct counters_file *f);

/* Returns the number of the next record, from 1 on: higher than all that were
 * returned before, also in other processes. */
uint64_t counters_file_next_sequence(struct counters_file *f);

/* Removes the file: all of it was reported. */
void counters_file_remove(struct counters_file *f);

#endif
