/* rotation.h - a space whose key is replaced in a test. */
#ifndef TESTS_UNIT_LINKSTORE_ROTATION_H
#define TESTS_UNIT_LINKSTORE_ROTATION_H

#include "tests/unit/linkstore/fixture.h"

/* Configures a program with these versions of the key; the first makes new
 * codes. */
static inline void configure_keys(struct fixture *f, int first, int second)
{
	static char *const secrets[] = {
		(char *)(uintptr_t) "a secret of sixteen bytes or more",
		(char *)(uintptr_t) "another secret, for the version 1"};
	int versions[] = {first, second};

	f->space_config.keys.count = second < 0 ? 1 : 2;
	for (size_t i = 0; i < f->space_config.keys.count; i++)
		f->keys[i] = (struct links_key_config){versions[i],
						       secrets[versions[i]]};
	fixture_open_store(f);
}

static inline enum space_created create_space(struct fixture *f)
{
	enum space_created created;

	must(f, space_create(f->server.redis, f->space, 0, &created, &f->err));
	return created;
}

static inline int check_space_record(struct fixture *f, enum space_use use)
{
	return space_check(f->server.redis, f->space, use, &f->err);
}

/* Makes a link with a code of version 0, then configures both keys, with
 * version 1 for new codes. */
static inline struct link_target
rotate_after_a_link(struct fixture *f, const struct link_class *ttl)
{
	struct link_block block = open_block(f, ttl);
	struct link_target target = store_link(f, &block, 0);

	configure_keys(f, 1, 0);
	assert_int_equal(create_space(f), SPACE_EXTENDED);
	return target;
}

#endif
