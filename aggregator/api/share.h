/*
 * share.h - a share: statistics for whoever has its token.
 *
 * It is of one link, or of the clicks that its filters take, and of a range. It
 * has no rights of its own: each request with it is one of the key that made
 * it, within these bounds (shares/share_access.h).  Its token and its password
 * are stored as digests only.
 */
#ifndef AGGREGATOR_API_SHARE_H
#define AGGREGATOR_API_SHARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/parameters.h"
#include "common/error.h"
#include "common/keys/api_keyring.h"

enum {
	SHARE_ID_MAX = 25,	   /* 24 hexadecimal digits and a NUL */
	SHARE_DIGEST_MAX = 65,	   /* 64 and a NUL */
	SHARE_PASSWORD_HASH = 128, /* including its NUL */
	SHARE_DAYS_MAX = 3660,
};

struct share {
	char id[SHARE_ID_MAX];
	char digest[SHARE_DIGEST_MAX];	    /* the token's SHA-256 */
	char password[SHARE_PASSWORD_HASH]; /* "": none is asked for */
	/* The key that made it. */
	char key[API_KEY_NAME_MAX];
	unsigned char key_digest[API_KEY_DIGEST];
	char account[API_KEY_NAME_MAX]; /* whose clicks; "": of all accounts */
	char listed[API_KEY_NAME_MAX];	/* the account that lists it */
	uint64_t link_id;		/* 0: it is of filters */
	char code[CODE_MAX + 1];	/* the link's when it was made */
	json_t *filters;		/* {dimension: values as in a query} */
	json_t *owners;	   /* those whose clicks it may show; NULL: any */
	int64_t from, to;  /* seconds since 1970; -1: no bound */
	int64_t last_days; /* UTC days up to today; 0: from and to count */
	int64_t created_at, expires_at; /* ms since 1970; expires_at 0: never */
	/* The owners within the rights that the key has at present; set by
	 * share_access_narrow.  NULL: any. */
	struct key_names *narrowed;
};

/* Returns whether the text has the form of an id. */
bool share_id_is_valid(const char *id);

/* Reads the text that share_to_json has made for Redis.  NULL: ERROR_DAMAGED,
 * or out of memory. */
struct share *share_parse(const char *text, size_t len, struct error *err);

/* The whole share, as it is stored. */
json_t *share_to_json(const struct share *share);
/* The members that its account sees, without digests. */
json_t *share_to_list(const struct share *share);
/* The members that whoever has its token sees. */
json_t *share_to_view(const struct share *share);

void share_release(struct share *share);
void share_free(struct share *share); /* NULL accepted */

/* Returns whether a filter of the share is kept as a bound of the caller
 * (account, owners), and needs no condition of its own. */
bool share_filter_is_bound(const struct share *share, const char *name,
			   const char *values);

/* Returns the range at `now` (ms since 1970): seconds, half-open. */
void share_range(const struct share *share, int64_t now, int64_t *ret_from,
		 int64_t *ret_to);
/* Returns whether it has a range. */
bool share_has_range(const struct share *share);

#endif
