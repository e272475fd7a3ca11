/*
 * Any bytes as a time zone file, and any text as the rule at its end: refused
 * with a reason, or read into changes in ascending order.  The first byte
 * chooses.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/zone/posix_tz.h"
#include "aggregator/zone/tzif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_file(const uint8_t *data, size_t size)
{
	struct tzif tzif;
	struct error err = {0};

	if (tzif_parse(&tzif, data, size, &err) < 0) {
		assert(err.code != ERROR_NONE && tzif.changes == NULL);
		return;
	}
	for (size_t i = 1; i < tzif.count; i++)
		assert(tzif.changes[i - 1].at < tzif.changes[i].at);
	assert(strlen(tzif.footer) < sizeof(tzif.footer));
	tzif_release(&tzif);
}

static void try_rule(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	struct posix_tz tz;
	struct error err = {0};

	assert(text);
	memcpy(text, data, size);
	if (posix_tz_parse(&tz, text, &err) == 0 && tz.has_dst) {
		int64_t begin = posix_tz_dst_begin(&tz, 2026);

		/* The times are within the year, plus or minus the 167 hours of
		 * a rule. */
		assert(begin > 1767225600 - 10 * 86400);
		assert(begin < 1798761600 + 10 * 86400);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (*data & 1)
		try_rule(data + 1, size - 1);
	else
		try_file(data + 1, size - 1);
	return 0;
}
