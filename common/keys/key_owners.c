#include "common/keys/key_owners.h"

#include <stdlib.h>
#include <string.h>

#include "common/hex.h"

struct key_owners {
	size_t count;
	size_t len;   /* of `names` */
	char names[]; /* one after the other, each with its NUL */
};

/* The byte at *at, or that of a %XX; -1: not one that a name may have. */
static int take_byte(const char **at)
{
	int high, low;

	if (**at != '%')
		return (unsigned char)*(*at)++;
	high = hex_digit((*at)[1]);
	low = high < 0 ? -1 : hex_digit((*at)[2]);
	if (low < 0 || high * 16 + low < ' ')
		return -1;
	*at += 3;
	return high * 16 + low;
}

/* Reads one name and the comma behind it. */
static int take_name(const char **at, struct key_owners *to, struct error *err)
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
	if (to->len - start > KEY_OWNER_MAX)
		return error_set(err, ERROR_INPUT,
				 "expected names of at most %d bytes",
				 KEY_OWNER_MAX);
	to->names[to->len++] = '\0';
	if (++to->count > KEY_OWNERS_MAX)
		return error_set(err, ERROR_INPUT, "expected at most %d names",
				 KEY_OWNERS_MAX);
	return 0;
}

struct key_owners *key_owners_parse(const char *text, struct error *err)
{
	/* No name becomes longer when it is decoded, and the NUL takes the
	 * place of a comma. */
	struct key_owners *owners =
		calloc(1, sizeof(*owners) + strlen(text) + 1);
	bool more = true;

	if (!owners) {
		error_set_nomem(err);
		return NULL;
	}
	while (more) {
		if (take_name(&text, owners, err) < 0) {
			free(owners);
			return NULL;
		}
		more = *text == ',';
		text += more;
	}
	return owners;
}

void key_owners_free(struct key_owners *owners)
{
	free(owners);
}

const char *key_owners_next(const struct key_owners *owners, const char *last)
{
	const char *next = last ? last + strlen(last) + 1 : owners->names;

	return next < owners->names + owners->len ? next : NULL;
}

bool key_owners_have(const struct key_owners *owners, const char *owner)
{
	const char *name = NULL;

	if (!owners)
		return true;
	while ((name = key_owners_next(owners, name))) {
		if (!strcmp(name, owner))
			return true;
	}
	return false;
}

bool key_owners_equal(const struct key_owners *a, const struct key_owners *b)
{
	if (!a || !b)
		return a == b;
	return a->count == b->count && a->len == b->len &&
	       !memcmp(a->names, b->names, a->len);
}
