/* verify_report.h - a reconciliation, for people and for programs. */
#ifndef COLLECTOR_TOOLS_VERIFY_VERIFY_REPORT_H
#define COLLECTOR_TOOLS_VERIFY_VERIFY_REPORT_H

#include "collector/tools/verify/verify.h"

/* Everything agrees, but for what is still on its way. */
bool verify_is_well(const struct verify *v);

int verify_print_text(const struct verify *v, double seconds,
		      struct error *err);
int verify_print_json(const struct verify *v, double seconds,
		      struct error *err);

#endif
