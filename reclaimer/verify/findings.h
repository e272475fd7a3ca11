/* findings.h - what is wrong in a space, and what was done about it. */
#ifndef RECLAIMER_VERIFY_FINDINGS_H
#define RECLAIMER_VERIFY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "reclaimer/verify/block_state.h"

/* "missing": short, for tables and JSON. */
const char *finding_name(enum trouble trouble);
/* A line for people. */
const char *finding_text(enum trouble trouble);

#define FINDINGS_MAX	   1000 /* kept one by one; all are counted */
#define FINDING_DETAIL_MAX 200

struct finding {
	enum trouble trouble;
	bool has_blocks; /* first and last count */
	uint64_t first, last;
	char detail[FINDING_DETAIL_MAX]; /* which members, which link */
	bool repaired;
	char repair[FINDING_DETAIL_MAX]; /* what it did, or why not */
};

/* A struct of zeros is an empty list. */
struct findings {
	struct finding *list;
	size_t count, room;
	uint64_t total; /* also those not kept */
	uint64_t repaired_unkept;
};

void findings_free(struct findings *f);
/* A finding that is there already is neither kept nor counted again. */
int findings_add(struct findings *f, const struct finding *finding,
		 struct error *err);
/* How many findings are not repaired. */
uint64_t findings_left(const struct findings *f);

#endif
