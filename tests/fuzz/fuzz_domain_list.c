/* Any bytes as a list of domains: refused with the line, or loaded; then each
 * of its lines is found. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/domain_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int write_file(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void find_line(const struct domain_list *list, const char *line,
		      size_t len)
{
	const char *comment = memchr(line, '#', len);
	struct error err = {0};
	struct host host, below;
	char text[2 * HOST_TEXT_MAX];
	bool dot;

	if (comment)
		len = (size_t)(comment - line);
	while (len && strchr(" \t\r\n", line[len - 1]))
		len--;
	for (; len && strchr(" \t", *line); line++)
		len--;
	if (len == 0)
		return;
	dot = *line == '.';
	assert(host_parse(line + dot, len - dot, &host, &err) == 0);
	assert(domain_list_has(list, &host));
	snprintf(text, sizeof(text), "x.%s", host.text);
	if (dot && host_parse(text, strlen(text), &below, &err) == 0)
		assert(domain_list_has(list, &below));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = write_file(data, size, path);
	struct error err = {0};
	struct domain_list *list = domain_list_load(path, &err);
	const char *at = (const char *)data, *end = at + size, *line_end;

	if (!list)
		assert(err.code == ERROR_CONFIG && strstr(err.text, path));
	while (list && at < end) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (!line_end)
			line_end = end;
		find_line(list, at, (size_t)(line_end - at));
		at = line_end < end ? line_end + 1 : end;
	}
	domain_list_free(list);
	close(fd);
	return 0;
}
