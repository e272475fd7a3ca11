#include "reclaimer/verify/repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/block/link_count.h"
#include "linkstore/space/member_list.h"
#include "reclaimer/verify/archive_links.h"

/* Most members that one script untangles. */
#define TANGLE_MAX 1000
#define TRIES	   5

static void set_repair(struct block_finding *f, bool repaired, const char *text)
{
	f->repaired = repaired;
	snprintf(f->repair, sizeof(f->repair), "%s", text);
}

static int claims_of(struct repair *r, uint64_t first, uint64_t last,
		     struct member_list *claims, struct error *err)
{
	struct block_range range = {first, last, 0};
	struct range_list one = {&range, 1, 1, 0};

	return survey_find_claims(r->survey, &one, claims, err);
}

static int replace_members(struct repair *r, const struct member_list *claims,
			   const struct found_member *parts, size_t count,
			   struct error *err)
{
	return space_repair(r->survey->redis, r->lock, &r->note,
			    claims->members, claims->count, parts, count, err);
}

/* Whether a member has moved meanwhile; then the repair is tried again. */
static bool has_moved(const struct error *why)
{
	return why->code == ERROR_NOTFOUND;
}

/* --- twice ---------------------------------------------------------------- */

/* Finds the claims on a range, and all claims that overlap with these. */
static int whole_tangle(struct repair *r, uint64_t first, uint64_t last,
			struct member_list *claims, struct error *err)
{
	size_t count;

	claims->count = 0;
	do {
		count = claims->count;
		if (claims_of(r, first, last, claims, err) < 0)
			return -1;
		for (size_t i = 0; i < claims->count; i++) {
			const struct block_range *m = &claims->members[i].range;

			first = m->first < first ? m->first : first;
			last = m->last > last ? m->last : last;
		}
	} while (claims->count != count && claims->count <= TANGLE_MAX);
	return 0;
}

static int untangle_claims(struct repair *r, struct block_finding *f,
			   struct member_list *claims, struct error *err)
{
	struct found_member *parts;
	size_t count;
	int status;

	if (whole_tangle(r, f->first, f->last, claims, err) < 0)
		return -1;
	if (claims->count > TANGLE_MAX) {
		set_repair(f, false, "too many ranges overlap there: by hand");
		return 0;
	}
	if (!claims->count)
		return 0;
	parts = calloc(2 * claims->count, sizeof(*parts));
	if (!parts)
		return error_set_nomem(err);
	count = repair_plan(claims->members, claims->count, parts);
	status = replace_members(r, claims, parts, count, err);
	free(parts);
	if (status == 0)
		set_repair(f, true, "kept once, in the stricter of its states");
	return status;
}

/* --- missing -------------------------------------------------------------- */

/* Finds the highest generation in the markers of these blocks, at least 1. */
static int generation_of(struct repair *r, uint64_t first, uint64_t last,
			 uint32_t *ret, struct error *err)
{
	struct survey *s = r->survey;
	size_t n;

	*ret = 1;
	for (uint64_t at = first; at <= last; at += n) {
		if (survey_read_markers(s, at, last, &n, err) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (s->batch.markers[i].state == MARKER_SOUND &&
			    s->batch.markers[i].marker.generation > *ret)
				*ret = s->batch.markers[i].marker.generation;
	}
	return 0;
}

static int issue_missing(struct repair *r, struct block_finding *f,
			 struct error *err)
{
	struct survey *s = r->survey;
	const struct linkstore *store = s->space->store;
	struct found_member part = {SET_ISSUED, {f->first, f->last, 1}, 0};
	struct space_movement now;

	if (!f->has_blocks || !s->proven) {
		set_repair(f, false,
			   "the space never rested long enough to be sure: "
			   "run it again");
		return 0;
	}
	if (space_read_movement(s->redis, s->space, &now, err) < 0 ||
	    generation_of(r, f->first, f->last, &part.range.generation, err) <
		    0)
		return -1;
	part.score = now.now + linkstore_config(store)->hold_max +
		     linkstore_longest_ttl(store);
	if (space_repair(s->redis, r->lock, &r->note, NULL, 0, &part, 1, err) <
	    0)
		return -1;
	set_repair(f, true, "issued, to be looked at after the longest TTL");
	return 0;
}

/* --- left to the next run --------------------------------------------------
 */

static void append_claim_part(struct found_member *parts, size_t *count,
			      const struct found_member *claim, uint64_t first,
			      uint64_t last)
{
	parts[*count] = *claim;
	parts[*count].range.first = first;
	parts[(*count)++].range.last = last;
}

/* The range becomes issued, with this score; the rest of its member stays. */
static int issue_part(struct repair *r, const struct block_finding *f,
		      struct member_list *claims, int64_t score,
		      struct error *err)
{
	struct found_member parts[3], due;
	size_t count = 0;
	const struct block_range *m;

	if (claims_of(r, f->first, f->last, claims, err) < 0)
		return -1;
	if (claims->count != 1 || claims->members[0].range.first > f->first ||
	    claims->members[0].range.last < f->last)
		return error_set(err, ERROR_NOTFOUND, "it has moved");
	m = &claims->members[0].range;
	due = claims->members[0];
	due.set = SET_ISSUED;
	due.score = score;
	if (m->first < f->first)
		append_claim_part(parts, &count, &claims->members[0], m->first,
				  f->first - 1);
	append_claim_part(parts, &count, &due, f->first, f->last);
	if (m->last > f->last)
		append_claim_part(parts, &count, &claims->members[0],
				  f->last + 1, m->last);
	return replace_members(r, claims, parts, count, err);
}

static int make_due(struct repair *r, struct block_finding *f,
		    struct member_list *claims, struct error *err)
{
	struct space_movement now;

	if (space_read_movement(r->survey->redis, r->survey->space, &now, err) <
		    0 ||
	    issue_part(r, f, claims, now.now, err) < 0)
		return -1;
	set_repair(f, true, "issued and due: the next run judges it");
	return 0;
}

/*
 * Adds the range to the lost blocks, which are looked up in the archive: for a
 * run, the marker of the generation before would mean that the block was never
 * opened.
 */
static int set_aside(struct repair *r, struct block_finding *f,
		     struct member_list *claims, struct error *err)
{
	if (issue_part(r, f, claims, 0, err) < 0)
		return -1;
	set_repair(f, true, "set aside as lost");
	return range_list_add(&r->survey->lost, f->first, f->last,
			      claims->members[0].range.generation, err);
}

/* --- lost ----------------------------------------------------------------- */

/* Whether this block may be granted again; if so, it is closed. */
static int close_if_empty(struct repair *r, uint64_t block, uint32_t generation,
			  bool *ret_free, struct error *err)
{
	struct survey *s = r->survey;
	uint64_t links;

	*ret_free = false;
	if (generation >= LINK_GENERATION_MAX)
		return 0;
	if (reclaim_lock_keep(s->redis, r->lock, err) < 0 ||
	    link_count_read(s->redis, s->space, r->lock, block, &links, err) <
		    0)
		return -1;
	if (links)
		return 0;
	return marker_close_lost(s->redis, s->space, block, generation,
				 ret_free, err);
}

/* Finds the members that a lost range is in; all of them must be lost, too. */
static int find_members(struct repair *r, const struct block_range *lost,
			struct member_list *claims, struct error *err)
{
	struct block_range range = *lost;
	struct range_list one = {&range, 1, 1, 0};
	uint64_t missing;

	if (survey_find_claims(r->survey, &one, claims, err) < 0)
		return -1;
	claims->first = lost->first;
	claims->last = lost->last;
	for (size_t i = 0; i < claims->count; i++)
		if (claims->members[i].set != SET_ISSUED ||
		    claims->members[i].score != 0)
			return error_set(err, ERROR_NOTFOUND, "it has moved");
	if (member_list_gap(claims, SET_ISSUED, &missing))
		return error_set(err, ERROR_NOTFOUND, "it has moved");
	return 0;
}

/* Splits a member into the part to pool and the parts that stay. */
static size_t split_member(const struct found_member *claim,
			   const struct block_range *freed, int64_t from,
			   struct found_member parts[3])
{
	const struct block_range *m = &claim->range;
	uint64_t first = m->first > freed->first ? m->first : freed->first;
	uint64_t last = m->last < freed->last ? m->last : freed->last;
	size_t count = 0;

	if (m->first < first) {
		parts[count] = *claim;
		parts[count++].range.last = first - 1;
	}
	parts[count++] = (struct found_member){
		SET_POOL, {first, last, freed->generation + 1}, from};
	if (m->last > last) {
		parts[count] = *claim;
		parts[count++].range.first = last + 1;
	}
	return count;
}

/* Pools the closed blocks of one range; other blocks of its members stay as
 * they are. */
static int pool_closed_blocks(struct repair *r, const struct block_range *freed,
			      struct error *err)
{
	struct survey *s = r->survey;
	struct member_list claims = {0};
	struct found_member *parts = NULL;
	struct space_movement now;
	size_t count = 0;
	int status = -1;

	if (find_members(r, freed, &claims, err) < 0 ||
	    space_read_movement(s->redis, s->space, &now, err) < 0)
		goto out;
	parts = calloc(3 * claims.count, sizeof(*parts));
	if (!parts) {
		error_set_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < claims.count; i++)
		count += split_member(
			&claims.members[i], freed,
			now.now + linkstore_config(s->space->store)->quarantine,
			&parts[count]);
	status = space_repair(s->redis, r->lock, &r->note, claims.members,
			      claims.count, parts, count, err);
out:
	free(parts);
	member_list_free(&claims);
	return status;
}

static int report_freed(struct repair *r, const struct block_range *freed,
			bool pooled, struct error *err)
{
	struct survey *s = r->survey;
	struct block_finding f = {
		.trouble = TROUBLE_LOST,
		.has_blocks = true,
		.first = freed->first,
		.last = freed->last,
		.repaired = pooled,
	};
	uint64_t blocks = freed->last - freed->first + 1;

	snprintf(f.detail, sizeof(f.detail), "generation %" PRIu32,
		 freed->generation);
	snprintf(f.repair, sizeof(f.repair), "%s",
		 pooled ? "no link of it anywhere: closed and pooled"
			: "it keeps moving: run it again");
	if (pooled)
		r->freed += blocks;
	return block_findings_add(&s->findings, &f, err);
}

static int free_range(struct repair *r, const struct block_range *freed,
		      struct error *err)
{
	struct error why = {0};
	int status = -1;

	for (int i = 0; i < TRIES && status < 0; i++) {
		status = pool_closed_blocks(r, freed, &why);
		if (status < 0 && why.code != ERROR_NOTFOUND) {
			*err = why;
			return -1;
		}
	}
	return report_freed(r, freed, status == 0, err);
}

/* Finds the blocks of a range that have no links in the archive and in
 * Redis. */
static int close_empty_blocks(struct repair *r, const struct block_range *range,
			      uint64_t *known, struct range_list *freed,
			      struct error *err)
{
	size_t count, at = 0;
	bool is_free;

	if (archive_links_blocks(r->archive, r->survey->space, range, known,
				 &count, err) < 0)
		return -1;
	for (uint64_t b = range->first; b <= range->last; b++) {
		while (at < count && known[at] < b)
			at++;
		is_free = at == count || known[at] != b;
		if (is_free &&
		    close_if_empty(r, b, range->generation, &is_free, err) < 0)
			return -1;
		if (!is_free)
			r->kept++;
		else if (range_list_add(freed, b, b, range->generation, err) <
			 0)
			return -1;
	}
	return 0;
}

static int repair_range(struct repair *r, const struct block_range *lost,
			uint64_t *known, struct error *err)
{
	struct block_range range = {0, 0, lost->generation};
	struct range_list freed = {0};
	int status = 0;

	for (uint64_t at = lost->first; at <= lost->last && status == 0;
	     at = range.last + 1) {
		range.first = at;
		range.last = lost->last - at < ARCHIVE_BLOCKS_MAX
				     ? lost->last
				     : at + ARCHIVE_BLOCKS_MAX - 1;
		freed.count = 0;
		status = close_empty_blocks(r, &range, known, &freed, err);
		for (size_t i = 0; i < freed.count && status == 0; i++)
			status = free_range(r, &freed.list[i], err);
	}
	range_list_free(&freed);
	return status;
}

/* Reports ranges that the list had no room for.  This comes first, because more
 * findings than are kept may follow. */
static int report_left_out(struct repair *r, struct error *err)
{
	struct block_finding f = {.trouble = TROUBLE_LOST};

	if (!r->survey->lost.left_out)
		return 0;
	snprintf(f.detail, sizeof(f.detail),
		 "%" PRIu64 " blocks more than are repaired at a time",
		 r->survey->lost.left_out);
	set_repair(&f, false, "run it again");
	return block_findings_add(&r->survey->findings, &f, err);
}

static int repair_lost(struct repair *r, struct error *err)
{
	struct range_list *lost = &r->survey->lost;
	uint64_t *known = calloc(ARCHIVE_BLOCKS_MAX, sizeof(*known));
	int status = 0;

	if (!known)
		return error_set_nomem(err);
	range_list_sort(lost);
	for (size_t i = 0; i < lost->count && status == 0; i++)
		status = repair_range(r, &lost->list[i], known, err);
	free(known);
	return status;
}

/* --- all ------------------------------------------------------------------ */

static int repair_one(struct repair *r, struct block_finding *f,
		      struct member_list *claims, struct error *err)
{
	switch (f->trouble) {
	case TROUBLE_TWICE:
		return untangle_claims(r, f, claims, err);
	case TROUBLE_MISSING:
		return issue_missing(r, f, err);
	case TROUBLE_POOL_OPEN:
	case TROUBLE_POOL_UNMARKED:
	case TROUBLE_LOST_MARKED:
	case TROUBLE_STUCK:
	case TROUBLE_UNMARKED:
		return make_due(r, f, claims, err);
	case TROUBLE_UNOPENED:
		return set_aside(r, f, claims, err);
	default:
		set_repair(f, false, "left to you");
		return 0;
	}
}

static int repair_finding(struct repair *r, struct block_finding *f,
			  struct error *err)
{
	struct member_list claims = {0};
	struct error why = {0};
	int status = -1;

	for (int i = 0; i < TRIES; i++) {
		status = repair_one(r, f, &claims, &why);
		if (status == 0 || !has_moved(&why))
			break;
	}
	member_list_free(&claims);
	if (status == 0)
		return 0;
	if (has_moved(&why)) {
		set_repair(f, false, "it keeps moving: run it again");
		return 0;
	}
	*err = why;
	return -1;
}

int repair_run(struct repair *r, struct error *err)
{
	struct block_findings *findings = &r->survey->findings;
	size_t count = findings->count;

	for (size_t i = 0; i < count; i++)
		if (repair_finding(r, &findings->list[i], err) < 0)
			return -1;
	if (report_left_out(r, err) < 0)
		return -1;
	return repair_lost(r, err);
}
