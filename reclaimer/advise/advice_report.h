/* advice_report.h - what `reclaimer advise` writes to stdout. */
#ifndef RECLAIMER_ADVISE_ADVICE_REPORT_H
#define RECLAIMER_ADVISE_ADVICE_REPORT_H

#include <stddef.h>

#include "common/error.h"
#include "reclaimer/advise/advice.h"

struct advised {
	const struct sampling *sampling;
	struct advice advice;
};

int advice_text(const struct advised *spaces, size_t count, struct error *err);
int advice_json(const struct advised *spaces, size_t count, struct error *err);

#endif
