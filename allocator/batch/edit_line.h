/*
 * edit_line.h - a line of POST /v1/links/edit, and its answer.
 *
 *	{"code":"kYq3ZtB","patch":{"tags":["a"]},"if_match":"\"5-3\""}
 *	{"code":"kYq3ZtB","delete":true}
 *	{"code":"kYq3ZtB","restore":true}
 *	{"code":"kYq3ZtB"}
 *	{"patch":{"state":"blocked"}}
 *
 * `patch` is that of PATCH, and `if_match` the value of its If-Match.  A line
 * with none of `patch`, `delete` and `restore` is edited as the first line
 *says, which then has no code.
 */
#ifndef ALLOCATOR_BATCH_EDIT_LINE_H
#define ALLOCATOR_BATCH_EDIT_LINE_H

#include "allocator/change/link_changer.h"
#include "allocator/link/link_patch.h"
#include "common/buf.h"
#include "common/http/url.h"

struct edit_line {
	json_t *root;
	struct http_slice code;		 /* {NULL, 0}: none */
	struct http_slice if_match;	 /* {NULL, 0}: none */
	bool patches, deletes, restores; /* at most one of them */
	struct link_patch patch;
};

/* Parses a line.  ERROR_INPUT: what is wrong.  End with edit_line_release, also
 * after a failure.  Must not be copied. */
int edit_line_parse(struct edit_line *line, const struct link_rules *rules,
		    struct http_slice text, struct error *err);

/* Parses the body of a request that edits all links of a filter: a line without
 * code and if_match. */
int edit_line_parse_all(struct edit_line *line, const struct link_rules *rules,
			struct http_slice text, struct error *err);

void edit_line_release(struct edit_line *line);

/* Returns whether the line has a patch, a deletion or a restore. */
bool edit_line_says_what(const struct edit_line *line);

/* Sets what is to be done to a link; the line must live as long as the
 * order. */
void edit_line_order(const struct edit_line *line, struct change_order *order);

/* Parameters of a request that edits many links. */
struct edit_options {
	bool dry_run;
	bool whole_links; /* answer=links */
};

/* Reads a parameter of the query string.  Returns 1 if it is one of these
 * options, 0 if not, -1 (ERROR_INPUT) if its value is wrong. */
int edit_options_read(struct edit_options *options,
		      const struct url_param *param, struct error *err);

/*
 * Appends the members of the answer to an edit that was made or was not needed,
 * without braces: "code", "version", "state", "changed", in a dry run
 * "dry_run", and with whole_links and a link that is not deleted "link".
 */
void edit_answer_put(const struct change_result *result,
		     const struct link_rules *rules,
		     const struct edit_options *options, struct buf *out);

#endif
