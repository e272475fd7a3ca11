/* keys_world.h - a file of API keys for tests. */
#ifndef TESTS_UNIT_COMMON_KEYS_WORLD_H
#define TESTS_UNIT_COMMON_KEYS_WORLD_H

#include <string.h>

#include "common/keys/api_keyring.h"
#include "tests/unit/unit.h"

/* The SHA-256 of "open sesame". */
#define SESAME                                                                 \
	"sha256:"                                                              \
	"41ef4bb0b23661e66301aac36066912dac037827b4ae63a7b1165a5aa93ed4eb"
#define OTHER                                                                  \
	"sha256:"                                                              \
	"00000000000000000000000000000000000000000000000000000000000000aa"

static char path[64];

static inline void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static inline int set_up(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/shortloop-keys-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static inline int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static inline struct api_keyring *open_ring(struct error *err)
{
	const struct api_keyring_options options = {.path = path,
						    .setting = "x.keys_file"};

	return api_keyring_new(&options, err);
}

static inline struct error refusal_of(const char *file)
{
	struct error err = {0};

	write_file(file);
	assert_null(open_ring(&err));
	return err;
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
