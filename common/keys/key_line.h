/* key_line.h - parses one line of the file of API keys, which api_keyring.h
 * describes. */
#ifndef COMMON_KEYS_KEY_LINE_H
#define COMMON_KEYS_KEY_LINE_H

#include <stdbool.h>

#include "common/error.h"
#include "common/keys/key_names.h"
#include "common/keys/rate_limiter.h"

enum api_role {
	API_READ_ALL = 1, /* reads the data of all accounts */
	API_CREATE = 2,
	API_ADMIN = 4,
	API_READ = 8,	   /* reads the data of its account */
	API_VISITORS = 16, /* reads who visited: the clicks of one visitor */
	/* For key_check: any of them, and so any key. */
	API_ANY_ROLE =
		API_READ_ALL | API_CREATE | API_ADMIN | API_READ | API_VISITORS,
};

#define API_KEY_NAME_MAX 65 /* including its NUL */
#define API_KEY_DIGEST	 32 /* bytes of SHA-256 */

#define KEY_DIGEST_PREFIX "sha256:"

struct key_line {
	char name[API_KEY_NAME_MAX];
	unsigned roles;
	unsigned char digest[API_KEY_DIGEST];
	struct rate_rule rate; /* count 0: none */
	bool has_rate;	       /* rate= is given, if only as none */
	char account[API_KEY_NAME_MAX];
	bool all_accounts;	  /* accounts=* */
	struct key_names *owners; /* NULL: any */
	struct key_names *spaces; /* NULL: any */
};

/* Parses `line`, which is modified.  Returns 1 for a key, 0 for a blank or a
 * comment, -1 with ERROR_INPUT, what was expected.  Call key_line_release in
 * any case. */
int key_line_parse(char *line, struct key_line *ret, struct error *err);
void key_line_release(struct key_line *line);

/* Parses "read,create"; returns 0 if one of them is unknown. */
unsigned key_line_parse_roles(const char *text);

bool key_line_name_is_valid(const char *name);

#endif
