#include "collector/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	MIB = 1 << 20,
	/* librdkafka's overhead for each event that it holds: an operation of
	 * its own (about 350 bytes in 2.0) and malloc's part. */
	EVENT_OVERHEAD = 384,
	/* A smaller limit would not help: a batch is about this large. */
	ANSWER_MIN = 16 * 1024,
	ANSWER_MAX = 2 * MIB,
	ROWS_MIN = 16 * MIB,
	MMAP_FROM = MIB / 4, /* less than a producer packs together */
	TRIM_FROM = 8 * MIB, /* the memory of prefetched events varies */
	ARENAS = 2,
};

/*
 * The shares are: an eighth for the compiled rules and for malloc's waste; an
 * eighth for events fetched ahead, half for their bytes and half for
 * librdkafka's overhead; an eighth for one answer, unpacked; a sixteenth for
 * dead letters, and a quarter of that for live clicks.  Two fifths of the rest
 * are for the forms of batches that are being inserted: columns, half as large,
 * and packed.
 */
int memory_share(int64_t memory, int64_t caches, struct memory_shares *ret,
		 struct error *err)
{
	size_t all = (size_t)memory;
	struct memory_shares s = {
		.fetch_bytes = all / 16,
		.fetch_events = all / 16 / EVENT_OVERHEAD,
		.fetch_unpacked = all / 8,
		.dead_letters = all / 64 * 3,
		.live = all / 64,
	};
	size_t taken = (size_t)caches + all / 8 + all / 8 + s.fetch_unpacked +
		       s.dead_letters + s.live;

	if (taken < all)
		s.rows = (all - taken) / 5 * 3;
	if (s.rows < ROWS_MIN)
		return error_set(err, ERROR_CONFIG,
				 "collector.memory: %" PRId64 " MiB is too "
				 "little beside ua_cache, geo_cache and "
				 "scan_memory, which take %" PRId64
				 " MiB of it",
				 memory / MIB, caches / MIB);
	*ret = s;
	return 0;
}

size_t memory_fetch_answer(const struct memory_shares *shares, size_t ratio)
{
	size_t answer = ratio ? shares->fetch_unpacked / ratio : 0;

	if (answer < ANSWER_MIN)
		return 0;
	return answer < ANSWER_MAX ? answer : ANSWER_MAX;
}

size_t memory_in_use(void)
{
	char text[128], *at = text;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;
	/* Virtual, resident, and the shared part of it. */
	uint64_t pages[3] = {0};

	if (fd >= 0) {
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (got <= 0)
		return 0;
	text[got] = '\0';
	for (size_t i = 0; i < 3; i++)
		pages[i] = strtoull(at, &at, 10);
	if (pages[2] > pages[1])
		return 0;
	return (pages[1] - pages[2]) * (size_t)sysconf(_SC_PAGESIZE);
}

void memory_tame(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, MMAP_FROM);
	mallopt(M_TRIM_THRESHOLD, TRIM_FROM);
	mallopt(M_ARENA_MAX, ARENAS);
#endif
}

void memory_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
