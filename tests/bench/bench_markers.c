/*
 * Checks ranges of markers again and again, as a reclaimer's run does.  Prints
 * nanoseconds of wall clock and of this process' CPU per marker.
 * usage: bench_markers PORT BLOCKS SECONDS
 *	  bench_markers PORT BLOCKS fill	(writes the markers)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "linkstore/block/block_scan.h"
#include "linkstore/space/reclaim.h"
#include "tests/unit/linkstore/await.h"

#define CHUNK 4096

static char class_name[] = "30d", *classes[] = {class_name};
static char secret[] = "0123456789abcdef", space_name[] = "s7",
	    strategy[] = "sequence";
static struct links_key_config key = {.key = secret};
static struct links_space_config spaces = {
	.name = space_name,
	.number = 1,
	.length = 7,
	.strategy = strategy,
	.block_size = 1000,
	.keys = {&key, 1},
};
static const struct links_config links = {
	.ttl_classes = {classes, 1},
	.hold_max = 60000,
	.grant_blocks = 1,
	.spaces = {&spaces, 1},
};

static int write_markers(const struct redis_config *config,
			 const struct linkstore *store, uint64_t blocks,
			 struct error *err)
{
	struct await *await = await_new(config, linkstore_scripts(store));
	struct link_block block = {.space = linkstore_space(store, 0),
				   .ttl = linkstore_class(store, 0),
				   .generation = 1,
				   .holder = "bench"};
	int status = await ? 0 : error_set_nomem(err);
	int64_t end;

	for (; status == 0 && block.number < blocks; block.number++)
		status = await_open(await, &block, &end, err);
	await_free(await);
	return status;
}

static int scan_markers(struct redis *redis, const struct link_space *space,
			uint64_t first, size_t count, uint64_t *live,
			struct error *err)
{
	static struct block_scan looks[CHUNK];
	uint64_t numbers[CHUNK];
	size_t i;

	for (i = 0; i < count; i++)
		numbers[i] = first + i;
	if (block_scan_read(redis, space, numbers, count, clock_real_ms(),
			    looks, err) < 0)
		return -1;
	for (i = 0; i < count; i++)
		*live += looks[i].state == BLOCK_LIVE;
	return 0;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int measure_scans(struct redis *redis, const struct linkstore *store,
			 uint64_t blocks, double seconds, struct error *err)
{
	const struct link_space *space = linkstore_space(store, 0);
	uint64_t looked = 0, live = 0, first;
	int64_t start = clock_monotonic_ns(), now = start;
	double cpu = cpu_ns();

	while ((double)(now - start) < seconds * 1e9) {
		for (first = 0; first + CHUNK <= blocks; first += CHUNK) {
			if (scan_markers(redis, space, first, CHUNK, &live,
					 err) < 0)
				return -1;
			looked += CHUNK;
		}
		now = clock_monotonic_ns();
	}
	cpu = cpu_ns() - cpu;
	printf("%.1f ns, cpu %.1f ns, live %.4f\n",
	       (double)(now - start) / (double)looked, cpu / (double)looked,
	       (double)live / (double)looked);
	return 0;
}

static int open_store_and_run(char *address, uint64_t blocks, const char *what,
			      struct error *err)
{
	struct redis_config config = {.address = address,
				      .connect_timeout = 2000,
				      .command_timeout = 5000,
				      .pending_max = 10000};
	struct linkstore *store = linkstore_new(&links, err);
	struct redis *redis =
		store ? redis_new(&config, linkstore_scripts(store), err)
		      : NULL;
	int status = -1;

	if (store && strcmp(what, "fill") == 0)
		status = write_markers(&config, store, blocks, err);
	else if (store)
		status = measure_scans(redis, store, blocks, atof(what), err);
	linkstore_free(store);
	redis_free(redis);
	return status;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	char address[64];

	if (argc != 4 || strtoull(argv[2], NULL, 10) < CHUNK) {
		fprintf(stderr,
			"usage: bench_markers PORT BLOCKS "
			"fill|SECONDS (at least %d blocks)\n",
			CHUNK);
		return 64;
	}
	snprintf(address, sizeof(address), "127.0.0.1:%s", argv[1]);
	if (open_store_and_run(address, strtoull(argv[2], NULL, 10), argv[3],
			       &err) < 0) {
		fprintf(stderr, "bench_markers: %s\n", err.text);
		return 1;
	}
	return 0;
}
