/*
 * stored.h - which offsets the rows of a topic's table are of.
 *
 * Asked in words of 64 offsets: as many bytes for a million offsets as for a
 * million bits, whatever the table holds.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_STORED_H
#define COLLECTOR_TOOLS_VERIFY_STORED_H

#include "collector/tools/verify/ask.h"
#include "collector/tools/verify/findings.h"
#include "collector/tools/verify/window.h"

/* Where to look: offsets of a partition in one life of its topic, and when
 * Kafka stored them. */
struct stretch {
	uint32_t partition, epoch;
	uint64_t first, end;
	int64_t since_ms, until_ms; /* from, up to and without */
};

/* What is known of a partition in one of its topic's lives. */
struct known {
	uint32_t partition, epoch;
	uint64_t first, last; /* least and greatest offset */
	uint64_t events;
};
struct known_list {
	struct known *items;
	size_t count;
};
/* Fills it from an answer of partition, epoch, first, last, events. */
int known_list_ask(struct ask *a, struct known_list *ret, struct error *err);
void known_list_free(struct known_list *list);

/* All that is stored of the topic with an append time from `from` up to
 * `to`. */
int stored_survey(struct ask *a, int64_t from, int64_t to,
		  struct known_list *ret, struct error *err);

#define STORED_WORDS_MAX 64
/* Offsets that have more than one row. */
struct stored_twice {
	uint64_t surplus;		  /* rows too many */
	uint64_t words[STORED_WORDS_MAX]; /* where the first ones are */
	size_t count;
};

/* Fills IN_ROWS of the window, which lies in the stretch, and TIMES_OF_ROWS if
 * the table has times. */
int stored_read(struct ask *a, const struct stretch *s, struct window *w,
		struct stored_twice *ret_twice, struct error *err);

/* When Kafka stored the events of the rows at the offsets from `first`, a
 * multiple of 64, to first + 63 (ms); -1: there is no row. */
int stored_times(struct ask *a, const struct stretch *s, uint64_t first,
		 int64_t ret_ms[64], struct error *err);

/* Adds findings that name the offsets in ret_twice's words. */
int stored_name_twice(struct ask *a, const struct stretch *s,
		      const struct window *w, const struct stored_twice *twice,
		      struct findings *findings, struct error *err);

/* How many rows of the stretch there are, and the least and greatest offset. */
int stored_extent(struct ask *a, const struct stretch *s, struct known *ret,
		  struct error *err);

#endif
