/* Any bytes as a message about changed links: each code that is read is valid,
 * and together they are the message. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "codespace/alias.h"
#include "linkstore/link/invalidation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct rest {
	const char *message;
	size_t len, at;
};

static void on_code(void *arg, const char *code, size_t len)
{
	struct rest *r = arg;

	assert(len >= 1 && len <= ALIAS_LENGTH_MAX);
	assert(code == r->message + r->at && len <= r->len - r->at);
	for (size_t i = 0; i < len; i++)
		assert(alias_has_symbol(code[i]));
	r->at += len;
	if (r->at == r->len)
		return;
	assert(code[len] == ' ');
	r->at++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rest r = {(const char *)data, size, 0};

	switch (invalidation_read(r.message, size, on_code, &r)) {
	case INVALIDATION_CODES:
		assert(size && r.at == size && size <= INVALIDATION_MAX);
		break;
	case INVALIDATION_ALL:
		assert(size == 1 && *data == '*');
		break;
	case INVALIDATION_MALFORMED:
		assert(r.at == 0);
	}
	return 0;
}
