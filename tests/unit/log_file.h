/* log_file.h - a log that a test can read. */
#ifndef TESTS_UNIT_LOG_FILE_H
#define TESTS_UNIT_LOG_FILE_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <string.h>

#include "common/log.h"

struct log_file {
	FILE *file;
	struct log *log;
};

static inline void log_file_open(struct log_file *f)
{
	struct error err = {0};

	f->file = tmpfile();
	assert_non_null(f->file);
	/* With O_APPEND, reading does not move the place that is written to. */
	assert_int_equal(fcntl(fileno(f->file), F_SETFL, O_APPEND), 0);
	f->log = log_new("test", fileno(f->file), LOG_INFO, LOG_LOGFMT, &err);
	if (!f->log)
		fail_msg("%s", err.text);
}

static inline void log_file_close(struct log_file *f)
{
	log_free(f->log);
	fclose(f->file);
}

/* Returns how many lines of the log contain that text. */
static inline size_t log_file_count(struct log_file *f, const char *text)
{
	char line[2048];
	size_t count = 0;

	rewind(f->file);
	while (fgets(line, sizeof(line), f->file))
		count += strstr(line, text) != NULL;
	return count;
}

#endif
