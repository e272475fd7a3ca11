/* key_line.h - one line of the file of API keys; api_keys.h describes it. */
#ifndef ALLOCATOR_KEYS_KEY_LINE_H
#define ALLOCATOR_KEYS_KEY_LINE_H

#include <sodium.h>

#include "allocator/keys/api_keys.h"

#define KEY_DIGEST_PREFIX "sha256:"

struct key_line {
	char name[API_KEY_NAME_MAX];
	unsigned roles;
	unsigned char digest[API_KEY_DIGEST];
	struct rate_rule rate;
};

/* Cuts `line` up.  Returns 1 for a key, 0 for a blank or a comment, -1 with
 * ERROR_INPUT, what was expected. */
int key_line_parse(char *line, struct key_line *ret, struct error *err);

/* "read,create"; 0 when one of them is unknown. */
unsigned key_roles_parse(const char *text);

bool key_name_is_good(const char *name);

#endif
