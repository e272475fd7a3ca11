/*
 * window.h - a stretch of a partition's offsets, and a bit for each in several
 * sets: what Kafka holds, what is stored, what has a dead letter.
 *
 * A partition of any length is gone through in windows, so that memory does not
 * grow with it.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_WINDOW_H
#define COLLECTOR_TOOLS_VERIFY_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/tools/verify/offset_set.h"
#include "common/error.h"

#define WINDOW_OFFSETS (UINT64_C(1) << 22) /* 512 KiB a set */

enum window_set {
	IN_KAFKA,
	IN_UNREADABLE, /* of these, what nobody can read */
	IN_ROWS,
	IN_DEAD_LETTERS, /* dead letters */
	IN_REPORTS,	 /* of reported batches */
	IN_GAPS,	 /* reported as lost */
	LEFT,		 /* what nothing accounts for */
	WINDOW_SETS,
};

/* Whose times are summed up by word, to be compared. */
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

/* Empty sets over [first, end), which spans less than WINDOW_OFFSETS - 64. */
void window_begin(struct window *w, uint64_t first, uint64_t end);
/* The end of a window from `first` on, of a stretch that ends at `end`. */
uint64_t window_reach(uint64_t first, uint64_t end);

/* What lies outside of the window is left out. */
void window_add(struct window *w, enum window_set set, uint64_t offset);
void window_add_range(struct window *w, enum window_set set, uint64_t first,
		      uint64_t last);
/* Bits of base + 64 * index and the 63 after it. */
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
/* The bits of base + 64 * index and the 63 after it. */
uint64_t window_word(const struct window *w, enum window_set set,
		     uint64_t index);

/* The next word at *index or later of which some offsets are in IN_KAFKA and
 * IN_ROWS, and some in one of them alone; moves *index behind it.  Returns its
 * index, or UINT64_MAX. */
uint64_t window_next_uneven(const struct window *w, uint64_t *index);
/*
 * The next word at *index or later that may have an offset with one time in
 * IN_KAFKA and another in IN_ROWS; moves *index behind it.  Returns its index,
 * or UINT64_MAX.  Kafka's times are to be those of offsets in both.
 */
uint64_t window_next_other(const struct window *w, uint64_t *index);

/* LEFT = all offsets of the window but those of the sets in `but`: 1 << IN_ROWS
 * | ... */
void window_subtract(struct window *w, unsigned but);
/* LEFT = `from` but those of the sets in `but`. */
void window_subtract_from(struct window *w, enum window_set from, unsigned but);

/* window_keep takes out of `set` what is not in `of`, window_remove what is. */
void window_keep(struct window *w, enum window_set set, enum window_set of);
void window_remove(struct window *w, enum window_set set, enum window_set of);

uint64_t window_count(const struct window *w, enum window_set set);
/* Both ends included. */
uint64_t window_count_in(const struct window *w, enum window_set set,
			 uint64_t first, uint64_t last);
/* How many are in both. */
uint64_t window_count_both(const struct window *w, enum window_set a,
			   enum window_set b);

/* The next run of neighbours at *at or later, both ends included; moves *at
 * behind it.  Begin with *at = w->first. */
bool window_next_run(const struct window *w, enum window_set set, uint64_t *at,
		     uint64_t *ret_first, uint64_t *ret_last);

#endif
