/* Any bytes can be beside a committed offset: an intent that is read must be
 * written as the same bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/exactly_once/intent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct intent intent = {0};
	char text[INTENT_TEXT_MAX];

	if (intent_parse((const char *)data, size, &intent) != INTENT_OURS)
		return 0;
	if (intent.has_batch && intent.last < intent.first)
		abort();
	intent_format(&intent, text);
	if (strlen(text) != size || memcmp(text, data, size) != 0)
		abort();
	return 0;
}
