#include "codespace/path_code.h"

#include <string.h>

#include "common/http/url.h"

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

/* --- in a text ------------------------------------------------------------ */

bool path_code_trims(struct http_slice rest)
{
	while (rest.len > 0) {
		if (alias_has_symbol(url_take_decoded(&rest)))
			return false;
	}
	return true;
}

/* Takes the code off the front; returns 0 if it is too long for one. */
static size_t take_decoded_code(struct http_slice *text,
				char decoded[ALIAS_TEXT_MAX])
{
	struct http_slice left = *text;
	size_t len = 0;
	char c;

	while (left.len > 0) {
		c = url_take_decoded(&left);
		if (!alias_has_symbol(c))
			break;
		if (len == ALIAS_LENGTH_MAX)
			return 0;
		decoded[len++] = c;
		*text = left;
	}
	return len;
}

bool path_code_in_text(struct http_slice path, bool trims,
		       struct path_text_code *ret_code)
{
	size_t len;

	if (path.len < 2 || path.data[0] != '/')
		return false;
	path.data++;
	path.len--;
	len = take_decoded_code(&path, ret_code->decoded);
	if (len == 0)
		return false;
	/* The link decides about a rest that begins with a slash. */
	ret_code->trimmed = path.len > 0 && path.data[0] != '/';
	if (ret_code->trimmed && !(trims && path_code_trims(path)))
		return false;
	ret_code->code = (struct http_slice){ret_code->decoded, len};
	return true;
}
