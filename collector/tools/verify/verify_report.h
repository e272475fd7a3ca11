/* verify_report.h - reports a reconciliation to people and to programs. */
#ifndef COLLECTOR_TOOLS_VERIFY_VERIFY_REPORT_H
#define COLLECTOR_TOOLS_VERIFY_VERIFY_REPORT_H

#include "collector/tools/verify/verify.h"

/* Returns whether everything agrees, apart from events on their way. */
bool verify_is_well(const struct verify *v);

int verify_print_text(const struct verify *v, double seconds,
		      struct error *err);
int verify_print_json(const struct verify *v, double seconds,
		      struct error *err);

#endif
