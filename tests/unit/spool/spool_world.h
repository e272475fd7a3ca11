/*
 * spool_world.h - a spool in a folder of its own for each test.  A test program
 * can replace functions of the disk (bad_disk.h).
 */
#ifndef TESTS_UNIT_SPOOL_SPOOL_WORLD_H
#define TESTS_UNIT_SPOOL_SPOOL_WORLD_H

#include "tests/unit/unit.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>

#include "common/spool/segment.h"
#include "common/spool/spool.h"

struct world {
	char dir[64];
	struct spool_options options;
	struct spool *spool;
};

static inline struct spool *reopen_spool(struct world *w)
{
	struct error err = {0};

	spool_free(w->spool);
	w->spool = spool_open(&w->options, &err);
	if (!w->spool)
		fail_msg("%s", err.text);
	return w->spool;
}

static inline int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/shortloop-spool-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->options = (struct spool_options){w->dir, 1 << 20, 0};
	reopen_spool(w);
	*state = w;
	return 0;
}

static inline int drop_world(void **state)
{
	struct world *w = *state;

	spool_free(w->spool);
	unit_remove_dir(w->dir);
	free(w);
	return 0;
}

static inline const char *text_of(uint64_t n)
{
	static char text[32];

	snprintf(text, sizeof(text), "event %" PRIu64, n);
	return text;
}

/* Appends events from `first` on; the time of each is its number. */
static inline size_t try_append(struct world *w, uint64_t first, size_t count,
				struct error *err)
{
	size_t appended = 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = text_of(first + i);
		struct spool_record record = {0, (int64_t)(first + i), false,
					      text, strlen(text)};
		size_t one;

		if (spool_append(w->spool, &record, 1, &one, err) < 0)
			break;
		appended += one;
	}
	return appended;
}

static inline void append_events(struct world *w, uint64_t first, size_t count)
{
	struct error err = {0};

	if (try_append(w, first, count, &err) != count)
		fail_msg("%s", err.text);
}

static inline struct spool_record next_record(struct world *w, uint64_t lost)
{
	struct spool_record record = {0};
	struct error err = {0};
	uint64_t found_lost;
	int got = spool_next(w->spool, &record, &found_lost, &err);

	if (got != 1)
		fail_msg("no record: %s", err.text);
	assert_int_equal(found_lost, lost);
	return record;
}

/* The next events must be these, in order. */
static inline void read_events(struct world *w, uint64_t first, size_t count,
			       bool maybe_sent)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = text_of(first + i);
		struct spool_record r = next_record(w, 0);

		assert_int_equal(r.len, strlen(text));
		assert_memory_equal(r.data, text, r.len);
		assert_int_equal(r.time_ms, first + i);
		assert_int_equal(r.maybe_sent, maybe_sent);
	}
}

static inline void is_read_to_the_end(struct world *w, uint64_t lost)
{
	struct spool_record record;
	struct error err;
	uint64_t found_lost;

	assert_int_equal(spool_next(w->spool, &record, &found_lost, &err), 0);
	assert_int_equal(found_lost, lost);
}

static inline void acknowledge_all(struct world *w)
{
	spool_acknowledge(w->spool, spool_next_number(w->spool));
}

static inline struct spool_usage read_usage(struct world *w)
{
	struct spool_usage u;

	spool_usage(w->spool, &u);
	return u;
}

static inline size_t segment_count(struct world *w, uint64_t *ret_first)
{
	DIR *dir = opendir(w->dir);
	size_t count = 0;
	uint64_t first;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (!segment_name_parse(e->d_name, &first))
			continue;
		if (count++ == 0 || first < *ret_first)
			*ret_first = first;
	}
	closedir(dir);
	return count;
}

static inline void segment_path(struct world *w, uint64_t first, char path[128])
{
	char name[SEGMENT_NAME_MAX];

	snprintf(path, 128, "%s/%s", w->dir, segment_name(first, name));
}

/* Makes segments of two records each; they begin with 1, 3, 5 and so on. */
static inline void make_segments(struct world *w, size_t count)
{
	uint64_t first;

	w->options.segment_bytes = 100;
	reopen_spool(w);
	append_events(w, 0, 2 * count);
	assert_int_equal(segment_count(w, &first), count);
}

#define SPOOL_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, make_world, drop_world)

#endif
