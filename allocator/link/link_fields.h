/*
 * link_fields.h - reads and checks the fields of a link from JSON.
 *
 * Creates and edits share the names and types of the fields, and the text of
 * each refusal.
 */
#ifndef ALLOCATOR_LINK_LINK_FIELDS_H
#define ALLOCATOR_LINK_LINK_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/policy/url_policy.h"
#include "common/error.h"
#include "common/field_mistakes.h"
#include "common/http/http_server.h"
#include "linkstore/domains.h"
#include "linkstore/linkstore.h"
#include "schemas/link.pb-c.h"

#define LINK_TEXT_MAX	     128 /* bytes of owner, campaign or a tag */
#define LINK_DESCRIPTION_MAX 1024
#define LINK_TAGS_MAX	     32
#define LINK_TARGETS_MAX     3 /* in addition to the default */
#define LINK_ALIAS_MAX	     64
#define LINK_VISITS_MAX	     INT64_C(1000000000000) /* for max_visits */

enum link_field {
	FIELD_URL = 1 << 0,
	FIELD_TARGETS = 1 << 1,
	FIELD_TTL = 1 << 2,
	FIELD_SPACE = 1 << 3,
	FIELD_CODE = 1 << 4,
	FIELD_DOMAIN = 1 << 5,
	FIELD_OWNER = 1 << 6,
	FIELD_CAMPAIGN = 1 << 7,
	FIELD_TAGS = 1 << 8,
	FIELD_DESCRIPTION = 1 << 9,
	FIELD_NOT_BEFORE = 1 << 10,
	FIELD_MAX_VISITS = 1 << 11,
	FIELD_REDIRECT_STATUS = 1 << 12,
	FIELD_STATE = 1 << 13,
	FIELD_PASS_QUERY = 1 << 14,
	FIELD_PASS_PATH = 1 << 15,
	FIELD_ACCOUNT = 1 << 16,
};

/* The rules that fields are checked against.  All of it outlives its use. */
struct link_rules {
	const struct linkstore *store;
	const struct domains *domains;
	struct url_policy *urls;
};

/* Strings point into the JSON that they were read from; "" if not given. */
struct link_fields {
	unsigned given; /* enum link_field; null counts as given */
	const char *url;
	Shortloop__Target targets[LINK_TARGETS_MAX];
	Shortloop__Target *target_list[LINK_TARGETS_MAX];
	size_t target_count;
	const struct link_class *ttl; /* NULL if not given */
	const char *space_name;
	const char *code;
	const char *domain_name;
	/* For a create: the space and domain of these names, or the defaults
	 * (link_place.h).  `domain` is NULL if there are no domains. */
	const struct link_space *space;
	const struct link_domain *domain;
	const char *account;
	const char *owner;
	const char *campaign;
	char *tags[LINK_TAGS_MAX]; /* read-only */
	size_t tag_count;
	const char *description;
	int64_t not_before;  /* ms since 1970; 0: at once */
	uint64_t max_visits; /* 0: any number */
	uint32_t redirect_status;
	Shortloop__QueryPass pass_query;
	bool pass_path;
	Shortloop__LinkState state;
	struct field_mistakes mistakes;
};

/*
 * Parses a JSON object of limited depth.  The caller must json_decref
 * *ret_root.  ERROR_INPUT says where the syntax error is.
 */
int link_fields_parse(struct http_slice text, json_t **ret_root,
		      struct error *err);

/*
 * Reads the fields of `root`, which may have only those in `allowed` (enum
 * link_field).  With `nullable`, null resets a field to its value when not
 * given; otherwise null is an error.  URLs in `root` are replaced by their
 * normal form.  ERROR_INPUT names the first wrong field and what was expected;
 * `mistakes` has all of them.  `fields` points to itself and must not be
 * copied. Release the mistakes also after a failure.
 */
int link_fields_read(struct link_fields *fields, json_t *root,
		     const struct link_rules *rules, unsigned allowed,
		     bool nullable, struct error *err);

/* Adds to the mistakes an ERROR_INPUT that names its field; another error is
 * left alone. */
void link_fields_add_mistake(struct link_fields *fields,
			     const struct error *err);

/* Sets ERROR_INPUT with the list of TTL classes.  Returns -1. */
int link_fields_refuse_ttl(const struct linkstore *store, struct error *err);

#endif
