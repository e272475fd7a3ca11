/*
 * block_findings.h - what is wrong in a space, and how it was repaired.
 */
#ifndef RECLAIMER_VERIFY_BLOCK_FINDINGS_H
#define RECLAIMER_VERIFY_BLOCK_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "reclaimer/verify/block_state.h"

/* Returns a short name for tables and JSON, such as "missing". */
const char *block_finding_name(enum trouble trouble);
/* Returns a line of text for the user. */
const char *block_finding_text(enum trouble trouble);

#define FINDINGS_MAX	   1000 /* kept one by one; all are counted */
#define FINDING_DETAIL_MAX 200

struct block_finding {
	enum trouble trouble;
	bool has_blocks; /* first and last are set */
	uint64_t first, last;
	char detail[FINDING_DETAIL_MAX]; /* which members, or which link */
	bool repaired;
	char repair[FINDING_DETAIL_MAX]; /* how it was repaired, or why not */
};

/* A struct of zeros is an empty list. */
struct block_findings {
	struct block_finding *list;
	size_t count, room;
	uint64_t total; /* includes those that are not kept */
	uint64_t repaired_unkept;
};

void block_findings_free(struct block_findings *f);
/* A finding that is already in the list is neither kept nor counted again. */
int block_findings_add(struct block_findings *f,
		       const struct block_finding *finding, struct error *err);
/* Returns the number of findings that are not repaired. */
uint64_t block_findings_left(const struct block_findings *f);

#endif
