/* Any bytes as an Idempotency-Key, and as its record in Redis: an accepted
 * value fits and is unchanged. */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/create/idempotency.h"
#include "linkstore/idempotency_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_key(const char *text, size_t size)
{
	struct http_slice key = {text, size};

	if (!idempotency_key_is_valid(key))
		return;
	assert(size >= 1 && size <= IDEMPOTENCY_KEY_MAX);
	for (size_t i = 0; i < size; i++)
		assert(text[i] > ' ' && text[i] < 0x7f);
}

static void try_record(const char *text)
{
	struct idem_record record, again;
	char written[IDEM_RECORD_MAX];
	struct error err = {0};

	if (idem_record_parse(text, &record, &err) < 0) {
		assert(err.code == ERROR_PROTOCOL && err.text[0]);
		return;
	}
	assert(!strcmp(record.text, text));
	if (!*text)
		return;
	assert(*record.code && *record.fingerprint);
	snprintf(written, sizeof(written), "%c %" PRId64 " %s %" PRIu64 " %s",
		 record.done ? 'd' : 'p', record.deadline, record.fingerprint,
		 record.link_id, record.code);
	assert(idem_record_parse(written, &again, &err) == 0);
	assert(again.done == record.done && again.deadline == record.deadline &&
	       again.link_id == record.link_id &&
	       !strcmp(again.code, record.code) &&
	       !strcmp(again.fingerprint, record.fingerprint));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	try_key(text, size);
	try_record(text);
	free(text);
	return 0;
}
