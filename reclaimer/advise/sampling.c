#include "reclaimer/advise/sampling.h"

#include <stdlib.h>
#include <sys/random.h>

#include "common/clock.h"
#include "linkstore/block/code_expiries.h"
#include "linkstore/block/markers.h"
#include "linkstore/space/members.h"

#define DRAW 512 /* markers read at once */

struct draws {
	struct sampling *s;
	int64_t now; /* Redis' clock */
	uint64_t first, count;
	uint64_t *shuffled; /* NULL: with repetition */
	uint64_t next;	    /* index in `shuffled` */
	uint64_t state;	    /* state of the random generator */
	uint64_t blocks[DRAW];
	struct marker_look looks[DRAW];
	int64_t *ends;
	int64_t ns; /* time spent on markers */
};

/* --- random numbers ------------------------------------------------------ */

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014. */
static uint64_t random_next(struct draws *d)
{
	uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Uniform in good approximation: limits are far below 2^64. */
static uint64_t random_below(struct draws *d, uint64_t limit)
{
	return random_next(d) % limit;
}

/* Shuffles by the algorithm of Fisher and Yates. */
static int shuffle_blocks(struct draws *d, struct error *err)
{
	d->shuffled = calloc((size_t)d->count + 1, sizeof(*d->shuffled));
	if (!d->shuffled)
		return error_set_nomem(err);
	for (uint64_t i = 0; i < d->count; i++) {
		uint64_t j = random_below(d, i + 1);

		d->shuffled[i] = d->shuffled[j];
		d->shuffled[j] = d->first + i;
	}
	return 0;
}

static int prepare_draws(struct draws *d, struct error *err)
{
	struct sampling *s = d->s;
	struct space_movement space;

	if (getrandom(&d->state, sizeof(d->state), 0) != sizeof(d->state))
		return error_set_errno(err, "getrandom");
	if (space_read_movement(s->redis, s->space, &space, err) < 0)
		return -1;
	d->now = space.now;
	d->first = space.first;
	d->count = s->issued =
		space.cursor > space.first ? space.cursor - space.first : 0;
	estimate_begin(&s->figures, s->space->block_size);
	d->ends = calloc(s->space->block_size, sizeof(*d->ends));
	if (!d->ends)
		return error_set_nomem(err);
	return d->count <= SAMPLING_SHUFFLE ? shuffle_blocks(d, err) : 0;
}

/* --- one block ------------------------------------------------------------ */

static bool is_live(const struct draws *d, const struct marker_look *look)
{
	return look->state == MARKER_SOUND &&
	       !marker_ended(&look->marker, d->now);
}

static bool has_ended(const struct draws *d, const struct marker_look *look)
{
	return look->state == MARKER_SOUND &&
	       marker_ended(&look->marker, d->now);
}

static bool is_held(const struct draws *d, const struct marker_look *look)
{
	const struct links_config *config =
		linkstore_config(d->s->space->store);

	return look->marker.opened + config->hold_max > d->now;
}

/* Counts its live neighbours, in groups of 2, 4 and 8. */
static int count_neighbours(struct draws *d, uint64_t block,
			    struct neighbours groups[3], struct error *err)
{
	uint64_t base = block - block % GROUP_MAX, blocks[GROUP_MAX];
	struct marker_look looks[GROUP_MAX];
	size_t count = 0;

	for (uint64_t b = base; b < base + GROUP_MAX; b++)
		if (b >= d->first && b < d->first + d->count)
			blocks[count++] = b;
	if (markers_read(d->s->redis, d->s->space, blocks, count, looks, err) <
	    0)
		return -1;
	for (unsigned g = 0; g < 3; g++) {
		groups[g] = (struct neighbours){0, 0};
		for (size_t i = 0; i < count; i++) {
			if (blocks[i] >> (g + 1) != block >> (g + 1))
				continue;
			groups[g].blocks++;
			groups[g].live += is_live(d, &looks[i]);
		}
	}
	return 0;
}

static int weigh_marker_and_link(struct draws *d, uint64_t block,
				 struct error *err)
{
	struct sampling *s = d->s;
	uint64_t marker, link = 0;

	if (s->marker_bytes && s->link_bytes)
		return 0;
	for (uint32_t i = 0; i < s->space->block_size; i++) {
		if (!d->ends[i])
			continue;
		if (block_weigh(s->redis, s->space, block, i, &marker, &link,
				err) < 0)
			return -1;
		if (marker)
			s->marker_bytes = marker;
		if (link)
			s->link_bytes = link;
		return 0;
	}
	return 0;
}

static int sample_block(struct draws *d, uint64_t block,
			const struct marker_look *look, struct error *err)
{
	struct sampling *s = d->s;
	struct neighbours groups[3];

	if (code_expiries_read(s->redis, s->space, block, d->ends, err) < 0 ||
	    count_neighbours(d, block, groups, err) < 0 ||
	    weigh_marker_and_link(d, block, err) < 0)
		return -1;
	estimate_add(&s->figures, d->ends, marker_last_end(&look->marker),
		     d->now, groups);
	if (s->pause(s->arg, s->figures.blocks, s->wanted))
		return error_set_retriable(err, ERROR_STOPPED, "interrupted");
	return 0;
}

/* --- drawing -------------------------------------------------------------- */

static size_t draw_blocks(struct draws *d)
{
	size_t n = 0;

	for (; n < DRAW && d->shuffled && d->next < d->count; n++)
		d->blocks[n] = d->shuffled[d->next++];
	for (; n < DRAW && !d->shuffled; n++)
		d->blocks[n] = d->first + random_below(d, d->count);
	return n;
}

static int draw_some(struct draws *d, size_t *ret_count, struct error *err)
{
	struct sampling *s = d->s;
	int64_t start = clock_monotonic_ns();
	size_t n = draw_blocks(d);

	if (markers_read(s->redis, s->space, d->blocks, n, d->looks, err) < 0)
		return -1;
	d->ns += clock_monotonic_ns() - start;
	s->drawn += n;
	for (size_t i = 0; i < n; i++) {
		s->ended += has_ended(d, &d->looks[i]);
		if (!is_live(d, &d->looks[i]) || is_held(d, &d->looks[i]))
			continue;
		s->live++;
		if (s->figures.blocks < s->wanted &&
		    sample_block(d, d->blocks[i], &d->looks[i], err) < 0)
			return -1;
	}
	*ret_count = n;
	return 0;
}

int sampling_run(struct sampling *s, struct error *err)
{
	struct draws *d = calloc(1, sizeof(*d));
	size_t count = 1;
	int status = -1;

	if (!d)
		return error_set_nomem(err);
	d->s = s;
	if (prepare_draws(d, err) < 0)
		goto out;
	while (s->figures.blocks < s->wanted && count && d->count &&
	       s->drawn < s->wanted * SAMPLING_DRAWS + DRAW)
		if (draw_some(d, &count, err) < 0)
			goto out;
	s->exhausted = s->figures.blocks < s->wanted;
	if (d->ns)
		s->markers_per_second = (double)s->drawn * 1e9 / (double)d->ns;
	status = redis_confirm_master(s->redis, err);
out:
	free(d->shuffled);
	free(d->ends);
	free(d);
	return status;
}

double sampling_population(const struct sampling *s)
{
	if (!s->drawn)
		return 0;
	return (double)s->issued * (double)s->live / (double)s->drawn;
}
