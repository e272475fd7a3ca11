#include "reclaimer/hold/block_arg.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>

/* Reads digits only; block numbers are far below the limit. */
static bool read_number(const char **p, uint64_t *ret)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); (*p)++) {
		if (value > UINT64_C(1) << 56)
			return false;
		value = value * 10 + (uint64_t)(**p - '0');
	}
	*ret = value;
	return true;
}

int block_arg_read(const char *text, uint64_t *ret_first, uint64_t *ret_last,
		   struct error *err)
{
	const char *p = text;
	uint64_t first, last;

	if (!read_number(&p, &first))
		goto wrong;
	last = first;
	if (*p == '-') {
		p++;
		if (!read_number(&p, &last))
			goto wrong;
	}
	if (*p || last < first)
		goto wrong;
	*ret_first = first;
	*ret_last = last;
	return 0;
wrong:
	return error_set(err, ERROR_USAGE,
			 "--blocks: '%.40s' is neither a block (42) nor a "
			 "range (40-49)",
			 text);
}
