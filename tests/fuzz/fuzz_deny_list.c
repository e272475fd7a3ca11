/* Any bytes as a list of denied networks: refused with the line, or loaded;
 * then the first and the last address of each network is found. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/network_list.h"
#include "redirector/visit/deny_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int write_file(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void find_network(const struct deny_list *list, const char *text)
{
	struct network net;

	assert(!network_parse(text, &net));
	assert(deny_list_has(list, &net.base));
	for (unsigned bit = net.bits; bit < net.base.len * 8u; bit++)
		net.base.bytes[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
	assert(deny_list_has(list, &net.base));
}

static size_t find_line(const struct deny_list *list, const char *line,
			size_t len)
{
	char *copy;

	for (size_t i = 0; i < len; i++) {
		if (strchr("#;\r", line[i]))
			len = i;
	}
	while (len && strchr(" \t", line[len - 1]))
		len--;
	for (; len && strchr(" \t", *line); line++)
		len--;
	if (!len)
		return 0;
	copy = strndup(line, len);
	assert(copy);
	find_network(list, copy);
	free(copy);
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = write_file(data, size, path);
	struct error err = {0};
	struct deny_list *list = deny_list_load(path, &err);
	const char *at = (const char *)data, *end = at + size, *line_end;
	size_t count = 0;

	if (!list)
		assert(err.code == ERROR_CONFIG && strstr(err.text, path));
	while (list && at < end) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (!line_end)
			line_end = end;
		count += find_line(list, at, (size_t)(line_end - at));
		at = line_end < end ? line_end + 1 : end;
	}
	assert(!list || count == deny_list_count(list));
	deny_list_free(list);
	close(fd);
	return 0;
}
