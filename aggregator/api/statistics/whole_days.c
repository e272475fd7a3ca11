#include "aggregator/api/statistics/whole_days.h"

#include "common/clock.h"

int whole_days_keep(struct copied_days *days, const struct question *q,
		    int64_t at, const char *what, struct error *err)
{
	char text[RFC3339_TEXT_MAX];

	if (!copied_days_keep_whole(days, q->from, q->to, at))
		return 0;
	error_set(err, ERROR_INPUT,
		  "from, to: single clicks are kept from %s on (setting "
		  "raw_days). Of older days there are %s of whole UTC "
		  "days",
		  rfc3339_format(days->rows_from * 1000, text), what);
	return error_name_field(err, "from");
}
