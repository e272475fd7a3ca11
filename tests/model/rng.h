/* rng.h - reproducible random numbers: SplitMix64 (S. Vigna, public domain). */
#ifndef TESTS_MODEL_RNG_H
#define TESTS_MODEL_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Returns a number from 0 to n - 1. */
static inline unsigned rng_below(struct rng *r, size_t n)
{
	return (unsigned)(rng_next(r) % n);
}

static inline bool rng_chance(struct rng *r, unsigned percent)
{
	return rng_below(r, 100) < percent;
}

#endif
