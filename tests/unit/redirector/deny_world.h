/* deny_world.h - files of denied networks, and addresses, for tests. */
#ifndef TESTS_UNIT_REDIRECTOR_DENY_WORLD_H
#define TESTS_UNIT_REDIRECTOR_DENY_WORLD_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/ip.h"
#include "tests/unit/unit.h"

/* A file that the test unlinks. */
struct deny_text {
	char path[64];
};

static inline void write_text(const struct deny_text *file, const char *text)
{
	FILE *f = fopen(file->path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline struct deny_text text_file(const char *text)
{
	struct deny_text file = {"/tmp/shortloop-deny-XXXXXX"};
	int fd = mkstemp(file.path);

	assert_true(fd >= 0);
	close(fd);
	write_text(&file, text);
	return file;
}

static inline struct address address_of(const char *text)
{
	struct address a = {.len = 0};

	a.len = (uint8_t)ip_parse(text, a.bytes);
	assert_int_not_equal(a.len, 0);
	return a;
}

#endif
