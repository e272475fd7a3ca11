#include "common/keys/key_names.h"

#include <stdlib.h>
#include <string.h>

#include "common/hex.h"

struct key_names {
	size_t count;
	size_t len;   /* length of `names` */
	char names[]; /* one after the other, each with its NUL */
};

/* Takes the byte at *at, or that of a %XX; returns -1 for one that no name may
 * contain. */
static int take_byte(const char **at)
{
	int byte;

	if (**at != '%')
		return (unsigned char)*(*at)++;
	byte = hex_byte(*at + 1, 2);
	if (byte < ' ')
		return -1;
	*at += 3;
	return byte;
}

/* Reads one name and the comma after it. */
static int take_name(const char **at, struct key_names *to, struct error *err)
{
	size_t start = to->len;
	int byte;

	while (**at && **at != ',') {
		byte = take_byte(at);
		if (byte == -1)
			return error_set(err, ERROR_INPUT,
					 "expected %%XX, a byte from %%20 on "
					 "in hexadecimal digits");
		to->names[to->len++] = (char)byte;
	}
	if (to->len - start > KEY_LISTED_NAME_MAX)
		return error_set(err, ERROR_INPUT,
				 "expected names of at most %d bytes",
				 KEY_LISTED_NAME_MAX);
	to->names[to->len++] = '\0';
	if (++to->count > KEY_NAMES_MAX)
		return error_set(err, ERROR_INPUT, "expected at most %d names",
				 KEY_NAMES_MAX);
	return 0;
}

struct key_names *key_names_parse(const char *text, struct error *err)
{
	/* Decoding makes no name longer, and the NUL takes the place of a
	 * comma. */
	struct key_names *names = calloc(1, sizeof(*names) + strlen(text) + 1);
	bool more = true;

	if (!names) {
		error_set_nomem(err);
		return NULL;
	}
	while (more) {
		if (take_name(&text, names, err) < 0) {
			free(names);
			return NULL;
		}
		more = *text == ',';
		text += more;
	}
	return names;
}

void key_names_free(struct key_names *names)
{
	free(names);
}

const char *key_names_next(const struct key_names *names, const char *last)
{
	const char *next = last ? last + strlen(last) + 1 : names->names;

	return next < names->names + names->len ? next : NULL;
}

bool key_names_have(const struct key_names *names, const char *wanted)
{
	const char *name = NULL;

	if (!names)
		return true;
	while ((name = key_names_next(names, name))) {
		if (!strcmp(name, wanted))
			return true;
	}
	return false;
}

bool key_names_equal(const struct key_names *a, const struct key_names *b)
{
	if (!a || !b)
		return a == b;
	return a->len == b->len && !memcmp(a->names, b->names, a->len);
}
