/* unit.h - every unit test includes this header first. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/error.h"

/* Writes a new file under /tmp and returns its name in `path`; the caller
 * unlinks it. */
static inline char *unit_write_file(const char *text, char path[64])
{
	FILE *out;
	int fd;

	snprintf(path, 64, "/tmp/shortloop-unit-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	return path;
}

/* Skips the test for that reason; tests/run-unit lists it. */
static inline void unit_skip(const char *reason)
{
	print_message("skipped: %s\n", reason);
	skip();
}

/* Removes a folder with all that is in it. */
static inline void unit_remove_dir(const char *path)
{
	char command[256];

	assert_true(snprintf(command, sizeof(command), "rm -rf %s", path) <
		    (int)sizeof(command));
	assert_int_equal(system(command), 0);
}

#endif
