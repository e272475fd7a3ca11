/*
 * log_source.h - the bytes of a log: a file, packed by gzip or not (told by
 * what is in it), or standard input.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_LOG_SOURCE_H
#define COLLECTOR_TOOLS_IMPORT_LOG_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

struct log_source;

/* "-" is standard input.  A directory, a file that is not there, or one packed
 * by something else is ERROR_INPUT; errors do not name the file. */
struct log_source *log_source_open(const char *path, struct error *err);
void log_source_close(struct log_source *s); /* NULL accepted */

/* Unpacked bytes, for line_reader_new; `arg` is the source.  A file that is
 * packed and broken is ERROR_INPUT, once what is whole was read. */
ssize_t log_source_read(void *arg, void *to, size_t len, struct error *err);

/* Back to the beginning of the same open file, whatever its name means by now.
 * What cannot be read twice, as a pipe, is ERROR_INPUT. */
int log_source_rewind(struct log_source *s, struct error *err);

/* How far it was read, of how much, in bytes of the file as it lies there. */
uint64_t log_source_done(const struct log_source *s);
uint64_t log_source_size(const struct log_source *s); /* 0: not known */

#endif
