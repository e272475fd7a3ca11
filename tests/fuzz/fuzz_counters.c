/* Any bytes can come from the topic of counters: an accepted record becomes one
 * whole row, a refused one leaves nothing behind. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "collector/side/counters_row.h"
#include "common/clickhouse/rowbinary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *skip_text(const char *at, const char *end)
{
	uint64_t len;

	if (!rowbinary_read_count(&at, end, &len) || len > 320 ||
	    len > (uint64_t)(end - at))
		abort();
	return at + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf rows = {0};
	struct error err = {0};
	const char *at, *end;
	size_t count = 0;

	if (counters_kind.append(&rows, &count, data, size, &err) < 0) {
		if (rows.len || count || err.code != ERROR_INPUT)
			abort();
		buf_free(&rows);
		return 0;
	}
	end = rows.data + rows.len;
	at = skip_text(rows.data + 4 + 8 + 8, end);
	at = skip_text(at, end);
	/* The row has times, flags and counts. */
	if (end - at != 8 + 8 + 1 + 1 + 13 * 8 || count != 1)
		abort();
	buf_free(&rows);
	return 0;
}
