/* verify_report.h - what `reclaimer verify` writes to stdout. */
#ifndef RECLAIMER_VERIFY_VERIFY_REPORT_H
#define RECLAIMER_VERIFY_VERIFY_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "reclaimer/verify/survey.h"

struct verified {
	const char *space;
	const struct survey *survey; /* NULL: it was not looked at */
	bool deep;
	uint64_t links; /* looked at, when deep */
	bool repaired;	/* a repair was asked for, and went through */
	uint64_t freed, kept;
	double seconds;
	bool failed; /* ended early */
	struct error error;
};

/* Findings are told one by one. */
int verify_text(const struct verified *spaces, size_t count, struct error *err);
int verify_json(const struct verified *spaces, size_t count, struct error *err);

#endif
