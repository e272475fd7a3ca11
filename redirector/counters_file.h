/*
 * counters_file.h - what a start of a redirector has counted, where a kill of
 * the process leaves it to be told by another one.
 *
 * A file of its own for each start (owned_files.h), mapped into memory, shared:
 * counting there
 * costs what it costs elsewhere (hour_counts.h).  Running totals are never
 * moved, so that they are right at any moment.  A loss of power is another
 * matter: what it leaves is not told.
 *
 * In this machine's byte order: struct file_header of counters_file.c, the two
 * names with a 0 behind each, and at the next multiple of 64 the struct
 * hour_totals of each writer.
 */
#ifndef REDIRECTOR_COUNTERS_FILE_H
#define REDIRECTOR_COUNTERS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "redirector/hour_counts.h"
#include "redirector/owned_files.h"

enum {
	/* hour_counts.h, too, is of this version: a struct or an enumerator
	 * that changes there raises it. */
	COUNTERS_FILE_VERSION = 1,
	/* More are not kept: redirectors that are killed over and over while
	 * Kafka is away. */
	COUNTERS_FILES_MAX = 64,
};

/* Who counts. */
struct counters_origin {
	const char *instance, *edge;
	uint64_t boot;
	int64_t started_ms;
};

struct counters_file;

/* Makes one with all of its room on the disk; in memory alone where `dir` is
 * NULL. */
struct counters_file *counters_file_new(const char *dir,
					const struct counters_origin *origin,
					size_t writers, struct error *err);

/*
 * Opens what a start that has ended left; it is the caller's then.  ERROR_BUSY:
 * that has not ended; ERROR_NOTFOUND: it is gone meanwhile.  These are set
 * aside (counters.rejected): ERROR_CONFIG: another version; ERROR_DAMAGED: it
 * is none, or not whole; ERROR_LATE: the machine has started since, and what
 * the file has need not be all.
 */
struct counters_file *counters_file_open(const char *dir, const char *name,
					 struct error *err);
/* The file stays, and is nobody's.  NULL accepted. */
void counters_file_free(struct counters_file *f);

/* Lists the files in a folder, whoever owns them, oldest first; to be released.
 * Of too many it removes the oldest that nobody owns, and says of how many in
 * *ret_removed; they are in the list all the same. */
int counters_file_list(const char *dir, struct owned_files *ret,
		       size_t *ret_removed, struct error *err);

/* The strings live as long as the file. */
const struct counters_origin *
counters_file_origin(const struct counters_file *f);
size_t counters_file_writers(const struct counters_file *f);
struct hour_totals *counters_file_totals(struct counters_file *f,
					 size_t writer);

/* Adds up all writers'. */
void counters_file_add_to(const struct counters_file *f, struct hour_table *to);
bool counters_file_is_empty(const struct counters_file *f);
/* Does what it has outlive the process? */
bool counters_file_is_kept(const struct counters_file *f);

/* The number of its next record, from 1 on: higher than all that were given,
 * also by other processes. */
uint64_t counters_file_next_sequence(struct counters_file *f);

/* All was told: it is gone. */
void counters_file_remove(struct counters_file *f);

#endif
