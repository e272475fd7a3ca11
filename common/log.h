/*
 * log.h - one line per event, as logfmt or JSON, to a stream.
 *
 *	log_info(log, "listening", log_str("address", a), log_int("n", n));
 *
 * Only programs log; library code fills a struct error instead.  A logger may
 * be used by many threads: a line is written with one write.  A NULL logger
 * drops all lines.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

enum log_level {
	LOG_DEBUG,
	LOG_INFO,
	LOG_WARN,
	LOG_ERROR
};
enum log_format {
	LOG_LOGFMT,
	LOG_JSON
};

struct log;

struct log_field {
	const char *key;  /* NULL ends a list */
	const char *text; /* NULL: `number` is the value */
	int64_t number;
};

/* `program` is kept, not copied.  `fd` is not closed by log_free. */
struct log *log_new(const char *program, int fd, enum log_level level,
		    enum log_format format, struct error *err);
void log_free(struct log *log);

/* The list of fields ends with one whose key is NULL: use the macros. */
void log_write(struct log *log, enum log_level level, const char *message, ...);

static inline struct log_field log_str(const char *key, const char *text)
{
	return (struct log_field){key, text ? text : "", 0};
}

static inline struct log_field log_int(const char *key, int64_t number)
{
	return (struct log_field){key, 0, number};
}

static inline struct log_field log_err(const struct error *err)
{
	return (struct log_field){"error", err->text, 0};
}

/* Limits a message that every request may cause to one line a second.  Start
 * with a zeroed struct; threads may share it. */
struct log_pace {
	_Atomic int64_t next; /* ns by clock_monotonic_ns */
	_Atomic int64_t left_out;
};

/* Returns true if a line may be written; *ret_left_out is then the number of
 * lines left out since the last one. */
bool log_pace_allows(struct log_pace *pace, int64_t *ret_left_out);

#define LOG_END ((struct log_field){0, 0, 0})

#define log_debug(log, ...) log_write(log, LOG_DEBUG, __VA_ARGS__, LOG_END)
#define log_info(log, ...)  log_write(log, LOG_INFO, __VA_ARGS__, LOG_END)
#define log_warn(log, ...)  log_write(log, LOG_WARN, __VA_ARGS__, LOG_END)
#define log_error(log, ...) log_write(log, LOG_ERROR, __VA_ARGS__, LOG_END)

#endif
