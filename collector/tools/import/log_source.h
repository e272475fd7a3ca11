/*
 * log_source.h - the bytes of a log: a file, packed by gzip or not (recognised
 * by its content), or standard input.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_LOG_SOURCE_H
#define COLLECTOR_TOOLS_IMPORT_LOG_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

struct log_source;

/* "-" is standard input.  A directory, a missing file, or a file in another
 * packing is ERROR_INPUT; errors do not name the file. */
struct log_source *log_source_open(const char *path, struct error *err);
void log_source_close(struct log_source *s); /* NULL accepted */

/* Reads unpacked bytes, for line_reader_new; `arg` is the source.  A broken
 * packed file is ERROR_INPUT once the intact data was read. */
ssize_t log_source_read(void *arg, void *to, size_t len, struct error *err);

/* Goes back to the beginning of the same open file, even if its path now leads
 * elsewhere.  A source that cannot be read twice, such as a pipe, is
 * ERROR_INPUT. */
int log_source_rewind(struct log_source *s, struct error *err);

/* Returns the position, in bytes of the file as stored (packed). */
uint64_t log_source_done(const struct log_source *s);
uint64_t log_source_size(const struct log_source *s); /* 0: not known */

#endif
