/* Any bytes can come from the topic of renewals: an accepted record becomes
 * whole rows, each with a link and an end, a refused one leaves nothing
 * behind. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/side/renewals_rows.h"
#include "common/clickhouse/rowbinary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const char *row)
{
	const uint64_t last = (uint64_t)rowbinary_bounded_ms(UINT64_MAX);
	uint64_t link_id, end;

	memcpy(&link_id, row, sizeof(link_id));
	memcpy(&end, row + 12, sizeof(end));
	if (!link_id || !end || end > last)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf rows = {0};
	struct error err = {0};
	size_t count = 0;

	if (renewals_kind.append(&rows, &count, data, size, &err) < 0) {
		if (rows.len || count || err.code != ERROR_INPUT)
			abort();
		buf_free(&rows);
		return 0;
	}
	if (!count || count > RENEWALS_ROWS_MAX ||
	    rows.len != count * RENEWALS_ROW_SIZE)
		abort();
	for (size_t i = 0; i < count; i++)
		check_row(rows.data + i * RENEWALS_ROW_SIZE);
	buf_free(&rows);
	return 0;
}
