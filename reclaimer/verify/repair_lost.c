#include "reclaimer/verify/repair_lost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "codespace/link_id.h"
#include "linkstore/block/scan.h"
#include "linkstore/space/member_list.h"
#include "reclaimer/verify/archive_links.h"
#include "reclaimer/verify/recheck.h"

#define TRIES 5

/* May this block be granted again?  It is closed then. */
static int close_if_empty(struct repair *r, uint64_t block, uint32_t generation,
			  bool *ret_free, struct error *err)
{
	struct survey *s = r->survey;
	uint64_t links;

	*ret_free = false;
	if (generation >= LINK_GENERATION_MAX)
		return 0;
	if (reclaim_lock_keep(s->redis, r->lock, err) < 0 ||
	    reclaim_count_links(s->redis, s->space, r->lock, block, &links,
				err) < 0)
		return -1;
	if (links)
		return 0;
	return marker_close_lost(s->redis, s->space, block, generation,
				 ret_free, err);
}

/* The members that a lost stretch lies in, all of them lost, too. */
static int find_members(struct repair *r, const struct stretch *lost,
			struct member_list *claims, struct error *err)
{
	struct stretch stretch = *lost;
	struct stretches one = {&stretch, 1, 1, 0};
	uint64_t missing;

	if (recheck_claims(r->survey, &one, claims, err) < 0)
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

/* What of a member is to be pooled, and what stays. */
static size_t split(const struct found_member *claim,
		    const struct stretch *freed, int64_t from,
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

/* Closed blocks of one stretch go to the pool; what else is in its members
 * stays as it is. */
static int pool(struct repair *r, const struct stretch *freed,
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
		count += split(
			&claims.members[i], freed,
			now.now + linkstore_config(s->space->store)->quarantine,
			&parts[count]);
	status = space_mend(s->redis, r->lock, &r->note, claims.members,
			    claims.count, parts, count, err);
out:
	free(parts);
	member_list_free(&claims);
	return status;
}

static int tell(struct repair *r, const struct stretch *freed, bool pooled,
		struct error *err)
{
	struct survey *s = r->survey;
	struct finding f = {
		.trouble = TROUBLE_LOST,
		.has_blocks = true,
		.first = freed->first,
		.last = freed->last,
		.repaired = pooled,
	};
	uint64_t blocks = freed->last - freed->first + 1;

	snprintf(f.detail, sizeof(f.detail), "generation %" PRIu32,
		 freed->generation);
	snprintf(f.outcome, sizeof(f.outcome), "%s",
		 pooled ? "no link of it anywhere: closed and pooled"
			: "it keeps moving: run it again");
	if (pooled)
		r->freed += blocks;
	return findings_add(&s->findings, &f, err);
}

static int free_stretch(struct repair *r, const struct stretch *freed,
			struct error *err)
{
	struct error why = {0};
	int status = -1;

	for (int i = 0; i < TRIES && status < 0; i++) {
		status = pool(r, freed, &why);
		if (status < 0 && why.code != ERROR_NOTFOUND) {
			*err = why;
			return -1;
		}
	}
	return tell(r, freed, status == 0, err);
}

/* Of a range: those that the archive and Redis know nothing of. */
static int sift(struct repair *r, const struct block_range *range,
		uint64_t *known, struct stretches *freed, struct error *err)
{
	size_t count, at = 0;
	bool is_free;

	if (archive_blocks(r->archive, r->survey->space, range, known, &count,
			   err) < 0)
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
		else if (stretches_add(freed, b, b, range->generation, err) < 0)
			return -1;
	}
	return 0;
}

static int repair_stretch(struct repair *r, const struct stretch *lost,
			  uint64_t *known, struct error *err)
{
	struct block_range range = {0, 0, lost->generation};
	struct stretches freed = {0};
	int status = 0;

	for (uint64_t at = lost->first; at <= lost->last && status == 0;
	     at = range.last + 1) {
		range.first = at;
		range.last = lost->last - at < ARCHIVE_BLOCKS_MAX
				     ? lost->last
				     : at + ARCHIVE_BLOCKS_MAX - 1;
		freed.count = 0;
		status = sift(r, &range, known, &freed, err);
		for (size_t i = 0; i < freed.count && status == 0; i++)
			status = free_stretch(r, &freed.list[i], err);
	}
	stretches_free(&freed);
	return status;
}

int repair_lost(struct repair *r, struct error *err)
{
	struct stretches *lost = &r->survey->lost;
	uint64_t *known = calloc(ARCHIVE_BLOCKS_MAX, sizeof(*known));
	int status = 0;

	if (!known)
		return error_set_nomem(err);
	stretches_sort(lost);
	for (size_t i = 0; i < lost->count && status == 0; i++)
		status = repair_stretch(r, &lost->list[i], known, err);
	free(known);
	return status;
}
