/* columns_internal.h - the parts of struct columns.  Internal. */
#ifndef COMMON_CLICKHOUSE_COLUMNS_INTERNAL_H
#define COMMON_CLICKHOUSE_COLUMNS_INTERNAL_H

#include "common/clickhouse/columns.h"
#include "common/clickhouse/dictionary.h"

enum column_kind {
	COLUMN_FIXED,
	COLUMN_STRING,
	COLUMN_WORD,  /* LowCardinality(String) */
	COLUMN_WORDS, /* Array(LowCardinality(String)) */
	COLUMN_MAP,   /* Map(LowCardinality(String), String) */
};

struct column {
	char *name;
	char *type;
	enum column_kind kind;
	size_t width; /* of COLUMN_FIXED */
	/* Of a COLUMN_WORD that begins a run of them, the run's length; the
	 * texts of a run are looked up as one, since they mostly repeat
	 * together. */
	size_t run;
	bool ends_run;
	struct dictionary words; /* of the run, or of elements and keys */
	struct buf numbers;	 /* uint32_t of each run, element or key */
	struct buf ends;	 /* uint64_t of each row's array or map */
	struct buf data;	 /* values as they are sent */
};

struct columns {
	struct column *items;
	size_t count;
	struct buf names;
	struct hash_key key;
	/* Scratch for one column of a run. */
	struct dictionary words;
	struct buf cursors; /* const char * into each distinct run */
	struct buf numbers; /* uint32_t of the column's word in each */
};

/* Fills items, count and names. */
int columns_parse(struct columns *c, const char *description,
		  struct error *err);

/* The varint at *at, which moves behind it; false at the end. */
bool columns_read_count(const char **at, const char *end, uint64_t *ret_count);

/* Appends the block of what was gathered.  -1: memory ran out. */
int columns_write(struct columns *c, uint64_t rows, struct buf *out);

#endif
