/*
 * archive_reader.h - reads the links of a filter from the archive, on threads
 * of its own: the loops never wait for ClickHouse.
 */
#ifndef ALLOCATOR_FILTER_ARCHIVE_READER_H
#define ALLOCATOR_FILTER_ARCHIVE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/filter/link_filter.h"
#include "common/loop/loop.h"

enum {
	ARCHIVE_PAGE = 1000,  /* links in a page */
	ARCHIVE_EXAMPLES = 10 /* links that a count names */
};

struct archive_reader;

/* `config` must outlive it. */
struct archive_reader *
archive_reader_new(const struct clickhouse_config *config, struct error *err);
/* Breaks queries off; the loops that submitted must still exist.  NULL
 * accepted. */
void archive_reader_free(struct archive_reader *r);

/*
 * A read.  The owner fills in the first members, which stay as they are until
 * `done`; the reader the others, which the owner releases with
 * archive_read_release.
 */
struct archive_read {
	const struct link_filter *filter;
	const char *after; /* a page: the code that it begins after */
	bool count;	   /* counts links in place of reading a page */
	uint64_t whose;	   /* reads of one owner wait for those of others */
	void (*done)(void *read);
	void *arg; /* the owner's */

	struct archive_reader *reader;
	/* Lines "code TAB link id", in order of codes, one for a code. */
	struct buf lines;
	size_t links;	  /* lines */
	uint64_t total;	  /* of a count */
	struct error err; /* ERROR_NONE: it worked */
};

/* Submits a read; `done` is called later on the loop.  Returns -1 (retriable)
 * if too many wait. */
int archive_reader_submit(struct archive_reader *r, struct loop *loop,
			  struct archive_read *read, struct error *err);
void archive_read_release(struct archive_read *read);

#endif
