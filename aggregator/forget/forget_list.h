/*
 * forget_list.h - table `forgotten`: the visitors and links that are to be
 * forgotten, and the same as lines of JSON.
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
	FORGET_VISITOR_DIGITS = 40, /* of clicks.unique_identity */
};

struct forget_entry {
	uint64_t link_id;			 /* 0: it is a visitor */
	char visitor[FORGET_VISITOR_DIGITS + 1]; /* "0A1F..."; "": a link */
	int64_t until; /* a visitor's visits up to then, ms since 1970 */
	/* What sets have of the visitor: SQL_VISITOR, SQL_OWNER_VISITOR. */
	uint64_t digest, owner_digest;
};

struct forget_list {
	struct forget_entry *items;
	size_t count;
};
void forget_list_release(struct forget_list *list);

/* Adds the visitor, 40 hexadecimal digits in either case, not all of them 0;
 * ERROR_INPUT for anything else. */
int forget_list_add_visitor(struct forget_list *list, const char *digits,
			    int64_t until, struct error *err);
int forget_list_add_link(struct forget_list *list, uint64_t link_id,
			 int64_t until, struct error *err);

/* Leaves each visitor and link once, with the latest of its times. */
void forget_list_unite(struct forget_list *list);

/* Has the server make the visitors' digests. */
int forget_list_digest(struct clickhouse *ch, struct forget_list *list,
		       struct error *err);

/* Reads a link's number; false: it is none. */
bool forget_link_id(const char *text, uint64_t *ret);

/* Reads the table, each visitor and link once. */
int forget_list_read(struct clickhouse *ch, struct forget_list *ret,
		     struct error *err);
/* Adds to the table; `by` names who does.  What it has already is there twice
 * then, which changes nothing. */
int forget_list_store(struct clickhouse *ch, const struct forget_list *list,
		      const char *by, struct error *err);

/* A line an entry: {"visitor":"0A1F...","until":"2026-11-24T02:00:00.000Z"},
 * {"link_id":"288230376151711785","until":"..."}.  Reading, ERROR_INPUT names
 * the line that is no such thing, or whose time is not yet over by `now` (ms
 * since 1970): what is to come is not forgotten. */
int forget_list_print(const struct forget_list *list, FILE *out,
		      struct error *err);
int forget_list_read_lines(FILE *in, int64_t now, struct forget_list *ret,
			   struct error *err);

#endif
