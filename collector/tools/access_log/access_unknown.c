#include "collector/tools/access_log/access_unknown.h"

#include <stdbool.h>
#include <string.h>

#include "common/safe_text.h"

void access_unknown_release(struct access_unknown *u)
{
	buf_free(&u->names);
	*u = (struct access_unknown){0};
}

static bool is_known(const struct access_unknown *u, const char *name,
		     size_t len)
{
	for (size_t at = 0; at < u->names.len;) {
		const char *known = u->names.data + at;
		size_t n = strlen(known);

		if (n == len && !memcmp(known, name, len))
			return true;
		at += n + 1;
	}
	return false;
}

void access_unknown_note(struct access_unknown *u, const char *name, size_t len)
{
	if (!len || memchr(name, '\0', len) || u->count > ACCESS_UNKNOWN_MAX ||
	    is_known(u, name, len))
		return;
	if (u->count++ == ACCESS_UNKNOWN_MAX)
		return;
	buf_append(&u->names, name, len);
	buf_putc(&u->names, '\0');
}

void access_unknown_put(const struct access_unknown *u, struct buf *to)
{
	char safe[80];

	for (size_t at = 0; at < u->names.len;) {
		const char *name = u->names.data + at;

		size_t len = strlen(name);

		buf_printf(to, "%s%s", at ? ", " : "",
			   safe_text(safe, sizeof(safe), name, len));
		at += len + 1;
	}
	if (u->count > ACCESS_UNKNOWN_MAX)
		buf_puts(to, " and more");
}
