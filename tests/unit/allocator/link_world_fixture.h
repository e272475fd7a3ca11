/* link_world_fixture.h - a world for tests that do nothing else to set up. */
#ifndef TESTS_UNIT_ALLOCATOR_LINK_WORLD_FIXTURE_H
#define TESTS_UNIT_ALLOCATOR_LINK_WORLD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/allocator/link_world.h"

static struct link_world world;

static inline int set_up(void **state)
{
	struct error err = {0};

	(void)state;
	return link_world_open(&world, &err);
}

static inline int tear_down(void **state)
{
	(void)state;
	link_world_close(&world);
	return 0;
}

#define WITH_STORE(test)                                                       \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
