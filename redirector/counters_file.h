/*
 * counters_file.h - what a start of a redirector has counted, where a kill of
 * the process leaves it to be told by the next one.
 *
 * A file of its own for each start, mapped into memory, shared: counting there
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

enum {
	/* hour_counts.h, too, is of this version: a struct or an enumerator
	 * that changes there raises it. */
	COUNTERS_FILE_VERSION = 1,
	COUNTERS_FILE_NAME_MAX = 48,
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
 * Opens what another start left.  ERROR_CONFIG: another version; ERROR_DAMAGED:
 * it is none, or not whole; ERROR_LATE: the machine has started since, and what
 * the file has need not be all.
 */
struct counters_file *counters_file_open(const char *dir, const char *name,
					 struct error *err);
/* The file stays.  NULL accepted. */
void counters_file_free(struct counters_file *f);

/* Renames a file that cannot be opened. */
void counters_file_set_aside(const char *dir, const char *name);

/*
 * The names of the files in a folder, but for that of `own`, oldest first;
 * *ret_count of them, to be freed as one.  Removes the oldest of too many and
 * says of how many in *ret_removed.
 */
int counters_file_list(const char *dir, uint64_t own,
		       char (**ret_names)[COUNTERS_FILE_NAME_MAX],
		       size_t *ret_count, size_t *ret_removed,
		       struct error *err);

/* The strings live as long as the file. */
const struct counters_origin *
counters_file_origin(const struct counters_file *f);
size_t counters_file_writers(const struct counters_file *f);
struct hour_totals *counters_file_totals(struct counters_file *f,
					 size_t writer);

/* Adds up all writers'. */
void counters_file_add_to(const struct counters_file *f, struct hour_table *to);
bool counters_file_is_empty(const struct counters_file *f);

/* The number of its next record, from 1 on: higher than all that were given,
 * also by other processes. */
uint64_t counters_file_next_sequence(struct counters_file *f);

/* All was told: it is gone. */
void counters_file_remove(struct counters_file *f);

#endif
