/* Any bytes as the file of API keys: refused with the line, or read; then every
 * key in it has a valid name, a role and a working limit. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocator/keys/account_book.h"
#include "common/keys/api_keyring.h"
#include "common/keys/key_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int write_file(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("keys", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void try_line(const uint8_t *data, size_t size)
{
	char *line = strndup((const char *)data, size);
	struct key_line key;
	struct error err = {0};
	int found;

	if (!line)
		abort();
	found = key_line_parse(line, &key, &err);
	assert(found >= 0 || (err.code == ERROR_INPUT && err.text[0]));
	if (found > 0) {
		assert(key_line_name_is_valid(key.account));
		assert(!key.owners || !(key.roles & API_ADMIN));
		assert(!key.spaces || !(key.roles & API_ADMIN));
		assert(!key.owners || key_names_equal(key.owners, key.owners));
		assert(key_line_name_is_valid(key.name));
		assert(key.roles);
		assert(key.rate.count <= RATE_COUNT_MAX);
		assert(!key.rate.count == !key.rate.burst);
	}
	key_line_release(&key);
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct account_book *book = account_book_new(NULL, NULL, &err);
	struct api_keyring_options options = {.setting = "keys_file"};
	struct api_keyring *ring;
	struct api_key_info who;
	char path[64];
	int fd;

	try_line(data, size);
	if (!book)
		abort();
	fd = write_file(data, size, path);
	options.path = path;
	options.accounts = account_book_reader(book);
	ring = api_keyring_new(&options, &err);
	if (!ring)
		assert(err.code == ERROR_CONFIG && strstr(err.text, path));
	else if (api_keyring_find(ring, "open sesame", 11, &who))
		assert(key_line_name_is_valid(who.name) && who.roles);
	api_keyring_free(ring);
	account_book_free(book);
	close(fd);
	return 0;
}
