/*
 * Encodes ids as codes of 7 characters, and decodes them; prints nanoseconds of
 * CPU time for each.
 * usage: bench_codes SECONDS
 *
 *	encode	codespace_encode, calls that may overlap
 *	decode	codespace_decode, the same
 *	next1	the next code of a thread's own block, per code
 *	next4	the same, four threads at once
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codespace/codespace.h"
#include "common/clock.h"

enum {
	IDS = 1000, /* codes in a block */
	THREADS_MAX = 4,
	PARTS = 4,
};

static char codes[IDS][CODE_TEXT_MAX];

/* Prevents the compiler from removing the computation. */
static void mark_result_used(const void *data)
{
	__asm__ volatile("" : : "g"(data) : "memory");
}

static void encode_each_id(const struct codespace *cs, uint64_t from)
{
	for (unsigned i = 0; i < IDS; i++)
		codespace_encode(cs, from + i, codes[i]);
	mark_result_used(codes);
}

static void decode_each_code(const struct codespace *cs, uint64_t from)
{
	uint64_t id, sum = 0;

	(void)from;
	for (unsigned i = 0; i < IDS; i++) {
		if (!codespace_decode(cs, codes[i], 7, &id, NULL))
			abort();
		sum += id;
	}
	mark_result_used(&sum);
}

/* CPU time of this thread, so that other users of the machine do not count. */
static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure_code_cost(const struct codespace *cs, double seconds,
				void work(const struct codespace *cs,
					  uint64_t from))
{
	double start = cpu_ns(), now = start;
	uint64_t done = 0;

	for (; now < start + seconds * 1e9; now = cpu_ns(), done += 100 * IDS)
		for (uint64_t i = 0; i < 100; i++)
			work(cs, done + i * IDS);
	return (now - start) / (double)done;
}

/* --- next code ------------------------------------------------------------ */

struct taker {
	const struct codespace *cs;
	_Atomic uint64_t *cursor; /* the next block */
	double seconds, cost;
	pthread_t thread;
};

static void *take_codes(void *arg)
{
	struct taker *t = arg;
	int64_t end = clock_monotonic_ns() + (int64_t)(t->seconds * 1e9);
	double before = cpu_ns();
	char code[CODE_TEXT_MAX];
	uint64_t taken = 0, first;

	for (; clock_monotonic_ns() < end; taken += IDS) {
		first = atomic_fetch_add(t->cursor, 1) * IDS;
		for (unsigned i = 0; i < IDS; i++) {
			codespace_encode(t->cs, first + i, code);
			mark_result_used(code);
		}
	}
	t->cost = (cpu_ns() - before) / (double)taken;
	return NULL;
}

static double measure_next_code(const struct codespace *cs, double seconds,
				int threads)
{
	struct taker takers[THREADS_MAX];
	_Atomic uint64_t cursor = 0;
	double sum = 0;

	for (int i = 0; i < threads; i++) {
		takers[i] = (struct taker){
			.cs = cs, .cursor = &cursor, .seconds = seconds};
		if (pthread_create(&takers[i].thread, NULL, take_codes,
				   &takers[i]))
			abort();
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(takers[i].thread, NULL);
		sum += takers[i].cost;
	}
	return sum / threads;
}

int main(int argc, char **argv)
{
	static const struct codespace_key key = {0, "a secret of the bench",
						 21};
	struct codespace_options options = {
		.length = 7, .keys = &key, .key_count = 1};
	double part = argc == 2 ? atof(argv[1]) / PARTS : 0;
	struct error err = {0};
	struct codespace *cs = codespace_new(&options, &err);

	if (part <= 0 || !cs) {
		fprintf(stderr, "usage: bench_codes SECONDS\n");
		return 64;
	}
	printf("encode %.1f ", measure_code_cost(cs, part, encode_each_id));
	printf("decode %.1f ", measure_code_cost(cs, part, decode_each_code));
	printf("next1 %.1f ", measure_next_code(cs, part, 1));
	printf("next4 %.1f\n", measure_next_code(cs, part, 4));
	codespace_free(cs);
	return 0;
}
