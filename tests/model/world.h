/*
 * world.h - the world of a history: a Redis, a few spaces with lives of tenths
 * of a second, and the random numbers.
 */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H

#include "tests/unit/linkstore/await.h"
#include "tests/unit/redis_server.h"

#include "linkstore/linkstore.h"
#include "tests/model/rng.h"

#define WORLD_SPACES  3
#define WORLD_CLASSES 4

/* Redis and the test use the clock of one machine; readings differ by up to
 * this (ms). */
#define CLOCK_SLACK 2

struct world {
	struct redis_server server;
	struct redis *redis;
	struct rng rng;
	uint64_t seed;
	char *classes[WORLD_CLASSES];
	struct links_key_config keys[2];
	struct links_space_config space_configs[WORLD_SPACES];
	struct links_config config;
	struct linkstore *store;
	/* The runs have their own store, since a program's store keeps the high
	 * water. */
	struct linkstore *runs_store;
	struct await *await; /* for the holders and visitors */
	/* The first block of each space; some begin close to their end. */
	uint64_t base[WORLD_SPACES];
	struct error err;
	char (*history)[160]; /* a ring */
	size_t said;
	uint64_t steps;
};

/* `change` may remove a guard of the scripts; NULL: no change. */
void world_open(struct world *w, uint64_t seed,
		void (*change)(struct linkstore *store, void *arg), void *arg);
void world_close(struct world *w);

const struct link_space *world_space(const struct world *w, size_t i);
const struct link_class *world_class(const struct world *w, size_t i);

/* Adds a line to the history that a failure shows. */
void world_say(struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* An invariant is violated: shows seed and history, and ends the test. */
_Noreturn void world_broken(struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
