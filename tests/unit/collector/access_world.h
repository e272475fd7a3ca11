/*
 * access_world.h - reads a line of an access log in a format.
 */
#ifndef TESTS_UNIT_COLLECTOR_ACCESS_WORLD_H
#define TESTS_UNIT_COLLECTOR_ACCESS_WORLD_H

#include "tests/unit/unit.h"

#include <string.h>
#include <time.h>

#include "collector/tools/access_log/access_format.h"
#include "collector/tools/access_log/access_time.h"
#include "common/clock.h"

#define MAY17 INT64_C(1431857103000) /* 2015-05-17 10:05:03 UTC */

struct world {
	struct access_format *f;
	struct access_visit v;
	struct error err;
	const char *keys;
	struct access_rules rules;
};

static inline int access_set_up(void **state)
{
	*state = calloc(1, sizeof(struct world));
	return *state ? 0 : -1;
}

static inline int access_tear_down(void **state)
{
	struct world *w = *state;

	access_format_free(w->f);
	free(w);
	return 0;
}

/* The line is copied to a block of its exact size, so that a sanitizer reports
 * any read beyond it. */
static inline int try_read_line(struct world *w, const char *format,
				const char *line)
{
	static char *copy;
	int status;

	access_format_free(w->f);
	w->err = (struct error){0};
	w->f = access_format_new(format, w->keys, &w->rules, &w->err);
	assert_string_equal(w->err.text, "");
	free(copy);
	copy = malloc(strlen(line) + 1);
	memcpy(copy, line, strlen(line));
	status = access_format_read(w->f, copy, strlen(line), &w->v, &w->err);
	return status;
}

static inline void read_line(struct world *w, const char *format,
			     const char *line)
{
	int status = try_read_line(w, format, line);

	assert_string_equal(w->err.text, "");
	assert_int_equal(status, 0);
}

static inline void assert_text(struct access_text t, const char *expected)
{
	assert_int_equal(t.len, strlen(expected));
	assert_true(!t.len || !memcmp(t.data, expected, t.len));
}

static inline void assert_ip(const struct world *w, const char *bytes,
			     size_t len)
{
	assert_int_equal(w->v.ip_len, len);
	assert_memory_equal(w->v.ip, bytes, len);
}

#define COMMON_LINE                                                            \
	"192.0.2.7 - ann [17/May/2015:10:05:03 +0000] "                        \
	"\"GET /abc?x=y HTTP/1.1\" 302 154"
#define COMBINED_LINE COMMON_LINE " \"https://a.example/\" \"curl/8 (x)\""

#define FIRST  "\xcb\x00\x71\x0c" /* 203.0.113.12 */
#define SECOND "\xc6\x33\x64\x07" /* 198.51.100.7 */
#define SIX    "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"

#define ACCESS_TEST(name)                                                      \
	cmocka_unit_test_setup_teardown(name, access_set_up, access_tear_down)

#endif
