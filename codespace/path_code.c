#include "codespace/path_code.h"

#include <string.h>

#include "codespace/alias.h"

struct http_slice path_code(struct http_slice path)
{
	size_t len = 0;

	if (path.len < 2 || path.data[0] != '/')
		return (struct http_slice){0};
	while (len + 1 < path.len && alias_has_symbol(path.data[len + 1])) {
		if (++len > ALIAS_LENGTH_MAX)
			return (struct http_slice){0};
	}
	if (len == 0 || (len + 1 < path.len && path.data[len + 1] != '/'))
		return (struct http_slice){0};
	return (struct http_slice){path.data + 1, len};
}

struct http_slice path_code_rest(struct http_slice path)
{
	const char *at = memchr(path.data + 1, '/', path.len - 1);

	if (!at)
		return (struct http_slice){path.data + path.len, 0};
	return (struct http_slice){at, path.len - (size_t)(at - path.data)};
}
