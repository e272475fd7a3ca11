#include "reclaimer/advise/estimate.h"

#include <math.h>

#include "common/clock.h"

#define SMALLEST 10
#define GROUPS	 3

/* --- sizes ---------------------------------------------------------------- */

/* The largest divisor of `block` that is at most `size`. */
static uint32_t divisor_below(uint32_t block, uint32_t size)
{
	while (size > 1 && block % size)
		size--;
	return size;
}

void estimate_begin(struct sample_figures *s, uint32_t block_size)
{
	uint32_t sizes[SIZES_MAX] = {0}, size = block_size;
	size_t count = 0;

	*s = (struct sample_figures){.block_size = block_size};
	while (count < SIZES_MAX - GROUPS - 1 && size > SMALLEST) {
		uint32_t half = divisor_below(block_size, size / 2);

		if (half < SMALLEST)
			half = divisor_below(block_size, SMALLEST);
		if (half < 2 || half >= size)
			break;
		sizes[count++] = size = half;
		if (half <= SMALLEST)
			break;
	}
	while (count)
		s->sizes[s->size_count++].size = sizes[--count];
	s->present = s->size_count;
	s->sizes[s->size_count++].size = block_size;
	for (unsigned m = 2; m <= GROUP_MAX; m *= 2)
		s->sizes[s->size_count++].size = m * block_size;
}

/* --- one block ------------------------------------------------------------ */

static void add_to_moments(struct moments *m, double value)
{
	m->sum += value;
	m->squares += value * value;
}

/* Counts the live codes of a part, and finds the last end of these. */
static uint32_t count_live(const int64_t *ends, uint32_t count, int64_t now,
			   int64_t *ret_end)
{
	uint32_t live = 0;

	*ret_end = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (ends[i] <= now)
			continue;
		live++;
		if (ends[i] > *ret_end)
			*ret_end = ends[i];
	}
	return live;
}

static void add_wait(struct size_figures *f, uint64_t dead, int64_t end,
		     int64_t now)
{
	if (end == DURATION_NEVER) {
		f->endless += dead;
	} else if (end > now) {
		f->waiting += dead;
		f->wait += (double)dead * (double)(end - now);
	}
}

/* Adds the dead codes that stay trapped if the block is cut into parts of this
 * size. */
static void add_parts(struct size_figures *f, const int64_t *ends,
		      uint32_t block_size, int64_t now)
{
	uint64_t trapped = 0;
	int64_t end;

	for (uint32_t at = 0; at < block_size; at += f->size) {
		uint32_t live = count_live(ends + at, f->size, now, &end);
		uint32_t dead = live ? f->size - live : 0;

		trapped += dead;
		add_wait(f, dead, end, now);
	}
	add_to_moments(&f->trapped, (double)trapped / block_size);
}

static double share_trapped(const int64_t *ends, uint32_t count, int64_t now)
{
	int64_t end;

	return 1.0 - (double)count_live(ends, count, now, &end) / count;
}

void estimate_add(struct sample_figures *s, const int64_t *ends,
		  int64_t block_end, int64_t now,
		  const struct neighbours groups[3])
{
	double here = share_trapped(ends, s->block_size, now);
	int64_t end;

	s->blocks++;
	s->live_codes += count_live(ends, s->block_size, now, &end);
	for (size_t i = 0; i < s->present; i++)
		add_parts(&s->sizes[i], ends, s->block_size, now);
	add_to_moments(&s->sizes[s->present].trapped, here);
	add_wait(&s->sizes[s->present], (uint64_t)llround(here * s->block_size),
		 block_end, now);
	for (size_t i = 0; i < GROUPS; i++) {
		const struct neighbours *g = &groups[i];
		unsigned live = g->live ? g->live : 1;

		add_to_moments(&s->sizes[s->present + 1 + i].trapped,
			       here + (double)(g->blocks - live) / live);
	}
}

/* --- the sample ---------------------------------------------------------- */

struct estimate estimate_trapped(const struct sample_figures *s, size_t size,
				 double population)
{
	const struct moments *m = &s->sizes[size].trapped;
	double n = (double)s->blocks;
	struct estimate e = {0, 0};
	double variance, rest;

	if (!s->blocks)
		return e;
	e.mean = m->sum / n;
	if (s->blocks < 2) {
		e.error = 1.0;
		return e;
	}
	variance = (m->squares - n * e.mean * e.mean) / (n - 1);
	rest = population > n ? 1.0 - n / population : 0.0;
	e.error = 1.96 * sqrt((variance > 0 ? variance : 0) / n * rest);
	return e;
}

double estimate_wait(const struct sample_figures *s, size_t size)
{
	const struct size_figures *f = &s->sizes[size];

	return f->waiting ? f->wait / (double)f->waiting : -1;
}
