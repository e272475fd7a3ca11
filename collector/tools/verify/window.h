/*
 * window.h - a stretch of a partition's offsets, with a bit for each in several
 * sets: in Kafka, stored, dead-lettered.
 *
 * A partition of any length is processed in windows, so that memory does not
 * grow with it.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_WINDOW_H
#define COLLECTOR_TOOLS_VERIFY_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/offset_set.h"
#include "common/error.h"

#define WINDOW_OFFSETS (UINT64_C(1) << 22) /* 512 KiB per set */

enum window_set {
	IN_KAFKA,
	IN_UNREADABLE, /* unreadable ones of IN_KAFKA */
	IN_ROWS,
	IN_DEAD_LETTERS, /* dead letters */
	IN_REPORTS,	 /* in reported batches */
	IN_GAPS,	 /* reported as lost */
	LEFT,		 /* without any account */
	WINDOW_SETS,
};

/* The sides whose times are added up by word, to be compared. */
enum window_times {
	TIMES_OF_KAFKA,
	TIMES_OF_ROWS,
	WINDOW_TIMES,
};
/* The sum of a word that cannot be compared. */
#define WINDOW_TIME_UNKNOWN UINT64_MAX

struct window {
	uint64_t base; /* a multiple of 64 */
	uint64_t first, end;
	uint64_t *sets[WINDOW_SETS];
	uint64_t *times[WINDOW_TIMES]; /* ms; sums of a word's offsets */
};

int window_init(struct window *w, struct error *err);
void window_release(struct window *w);

/* Begins with empty sets over [first, end), which spans less than
 * WINDOW_OFFSETS - 64. */
void window_begin(struct window *w, uint64_t first, uint64_t end);
/* Returns the end of a window from `first` on, in a stretch that ends at
 * `end`. */
uint64_t window_reach(uint64_t first, uint64_t end);

/* Offsets outside of the window are ignored. */
void window_add(struct window *w, enum window_set set, uint64_t offset);
void window_add_range(struct window *w, enum window_set set, uint64_t first,
		      uint64_t last);
/* Adds bits of the 64 offsets from base + 64 * index. */
void window_add_word(struct window *w, enum window_set set, uint64_t index,
		     uint64_t bits);
void window_add_set(struct window *w, enum window_set set,
		    const struct offset_set *from);
void window_clear_range(struct window *w, enum window_set set, uint64_t first,
			uint64_t last);

/* Adds to the sum of the word at base + 64 * index. */
void window_add_time(struct window *w, enum window_times whose, uint64_t index,
		     uint64_t ms);
void window_set_time(struct window *w, enum window_times whose, uint64_t index,
		     uint64_t ms);
/* Returns the bits of the 64 offsets from base + 64 * index. */
uint64_t window_word(const struct window *w, enum window_set set,
		     uint64_t index);

/* Finds the next word at *index or later with some offsets in both IN_KAFKA and
 * IN_ROWS, and some in only one of them; moves *index past it.  Returns its
 * index, or UINT64_MAX. */
uint64_t window_next_uneven(const struct window *w, uint64_t *index);
/*
 * Finds the next word at *index or later that may have an offset with different
 * times in IN_KAFKA and IN_ROWS; moves *index past it.  Returns its index, or
 * UINT64_MAX.  Kafka's times must be those of offsets in both.
 */
uint64_t window_next_other(const struct window *w, uint64_t *index);

/* LEFT = all offsets of the window except those of the sets in `but`: 1 <<
 * IN_ROWS | ... */
void window_subtract(struct window *w, unsigned but);
/* LEFT = `from` without the sets in `but`. */
void window_subtract_from(struct window *w, enum window_set from, unsigned but);

/* window_keep removes from `set` all that is not in `of`, window_remove all
 * that is. */
void window_keep(struct window *w, enum window_set set, enum window_set of);
void window_remove(struct window *w, enum window_set set, enum window_set of);

uint64_t window_count(const struct window *w, enum window_set set);
/* Both ends included. */
uint64_t window_count_in(const struct window *w, enum window_set set,
			 uint64_t first, uint64_t last);
/* Returns how many offsets are in both. */
uint64_t window_count_both(const struct window *w, enum window_set a,
			   enum window_set b);

/* Finds the next run of adjacent offsets at *at or later, both ends included;
 * moves *at past it.  Begin with *at = w->first. */
bool window_next_run(const struct window *w, enum window_set set, uint64_t *at,
		     uint64_t *ret_first, uint64_t *ret_last);

#endif
