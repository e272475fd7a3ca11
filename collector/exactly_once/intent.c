#include "collector/exactly_once/intent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "shortloop ";
static const char version[] = "1 ";

const char *intent_format(const struct intent *intent,
			  char text[INTENT_TEXT_MAX])
{
	int n = snprintf(text, INTENT_TEXT_MAX, "%s%s%" PRIu32, magic, version,
			 intent->epoch);

	if (intent->has_batch)
		snprintf(text + n, INTENT_TEXT_MAX - (size_t)n,
			 " %" PRIu64 "-%" PRIu64, intent->first, intent->last);
	return text;
}

struct intent_reader {
	const char *p;
	const char *end;
};

static bool match_word(struct intent_reader *r, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len) != 0)
		return false;
	r->p += len;
	return true;
}

/* Reads digits without leading zeros, up to max. */
static bool take_number(struct intent_reader *r, uint64_t max, uint64_t *ret)
{
	const char *start = r->p;
	uint64_t n = 0;

	for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
		uint64_t digit = (uint64_t)(*r->p - '0');

		if (n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (r->p == start || (*start == '0' && r->p - start > 1))
		return false;
	*ret = n;
	return true;
}

static bool take_body(struct intent_reader *r, struct intent *ret)
{
	uint64_t epoch, first = 0, last = 0;
	bool has_batch;

	if (!take_number(r, UINT32_MAX, &epoch))
		return false;
	has_batch = match_word(r, " ");
	if (has_batch &&
	    (!take_number(r, INT64_MAX - 1, &first) || !match_word(r, "-") ||
	     !take_number(r, INT64_MAX - 1, &last) || last < first))
		return false;
	if (r->p != r->end)
		return false;
	*ret = (struct intent){(uint32_t)epoch, has_batch, first, last};
	return true;
}

enum intent_kind intent_parse(const char *text, size_t len, struct intent *ret)
{
	struct intent_reader r;

	if (!len)
		return INTENT_FOREIGN;
	r = (struct intent_reader){text, text + len};
	if (!match_word(&r, magic))
		return INTENT_FOREIGN;
	if (!match_word(&r, version) || !take_body(&r, ret))
		return INTENT_LATER;
	return INTENT_OURS;
}
