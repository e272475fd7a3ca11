/*
 * space_scripts.h - the keys of the scripts that make a space and grant its
 * blocks, and an initial space.
 */
#ifndef TESTS_UNIT_LINKSTORE_SPACE_SCRIPTS_H
#define TESTS_UNIT_LINKSTORE_SPACE_SCRIPTS_H

#include "tests/unit/linkstore/script_bench.h"

/* space cursor issued pool unopened endless */
#define KEYS "s c i p u e"

/* cursor moves generation capacity gap hold longest day-prefix */
#define SEEN_NOTHING "0 0 0 100 7 50 1000 d-"

static inline struct script_bench *space_reset(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET s run_id abc key:0 fp\nSET c 10");
	return b;
}

#endif
