/*
 * forget_list.h - table `forgotten`: the visitors and links to forget; also as
 * lines of JSON.
 */
#ifndef AGGREGATOR_FORGET_FORGET_LIST_H
#define AGGREGATOR_FORGET_FORGET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum {
	FORGET_VISITOR_DIGITS = 40, /* digits of clicks.unique_identity */
};

struct forget_entry {
	uint64_t link_id;			 /* 0: the entry is a visitor */
	char visitor[FORGET_VISITOR_DIGITS + 1]; /* "0A1F..."; "": a link */
	/* Visits up to this time are forgotten, ms since 1970. */
	int64_t until;
	/* Digests of the visitor in sets (aggregator/sql/forget_digests.sql).
	 */
	uint64_t digest, owner_digest;
};

struct forget_list {
	struct forget_entry *items;
	size_t count;
};
void forget_list_release(struct forget_list *list);

/* Adds a visitor: 40 hexadecimal digits in either case, not all of them 0;
 * ERROR_INPUT for anything else. */
int forget_list_add_visitor(struct forget_list *list, const char *digits,
			    int64_t until, struct error *err);
int forget_list_add_link(struct forget_list *list, uint64_t link_id,
			 int64_t until, struct error *err);

/* Keeps each visitor and link once, with the latest of its times. */
void forget_list_unite(struct forget_list *list);

/* Queries the server for the visitors' digests. */
int forget_list_digest(struct clickhouse *ch, struct forget_list *list,
		       struct error *err);

/* Parses a link's number; returns false if it is none. */
bool forget_link_id(const char *text, uint64_t *ret);

/* Reads the table, each visitor and link once. */
int forget_list_read(struct clickhouse *ch, struct forget_list *ret,
		     struct error *err);
/* Adds the list to the table; `by` names the process.  Entries that the table
 * already has are then in it twice, which changes nothing. */
int forget_list_store(struct clickhouse *ch, const struct forget_list *list,
		      const char *by, struct error *err);

/*
 * Each entry is a line:
 * {"visitor":"0A1F...","until":"2026-11-24T02:00:00.000Z"} or
 * {"link_id":"288230376151711785","until":"..."}.
 * When reading, ERROR_INPUT names a line that is malformed, or whose time is
 * later than `now` (ms since 1970): future visits cannot be forgotten.
 */
int forget_list_print(const struct forget_list *list, FILE *out,
		      struct error *err);
int forget_list_read_lines(FILE *in, int64_t now, struct forget_list *ret,
			   struct error *err);

#endif
