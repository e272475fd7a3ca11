/* Any bytes as what Redis has of a denied host: what is read fits its room, has
 * no hidden characters, and gives the same bytes again but for leading zeros.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "linkstore/denied_hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[OPERATOR_NAME_MAX + DENIED_REASON_MAX + 32];
	const char *given = (const char *)data;
	struct error err;
	struct denial d;
	size_t len;

	if (!denial_parse(given, size, &d))
		return 0;
	assert(d.time_ms >= 0 && *d.who && strlen(d.who) < sizeof(d.who));
	assert(denied_hosts_check_reason(d.reason, &err) == 0);
	snprintf(text, sizeof(text), "%" PRId64 "\t%s\t%s", d.time_ms, d.who,
		 d.reason);
	len = strlen(text);
	while (size > 1 && *given == '0' && given[1] != '\t') {
		given++;
		size--;
	}
	/* The last tab may be missing if there is no reason. */
	assert(size == len || (!*d.reason && size + 1 == len));
	assert(!memcmp(text, given, size));
	return 0;
}
