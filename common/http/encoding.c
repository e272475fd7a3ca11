#include "common/http/encoding.h"

#include <stdio.h>
#include <string.h>

#include "common/http/weighted.h"

/* A shorter body fits into one packet with its head: compression gains
 * nothing. */
#define BODY_MIN 1400

static const char *const names[ENCODING_COUNT] = {
	[ENCODING_IDENTITY] = "identity",
	[ENCODING_GZIP] = "gzip",
	[ENCODING_ZSTD] = "zstd",
};

static const char *const suffixes[ENCODING_COUNT] = {
	[ENCODING_IDENTITY] = "",
	[ENCODING_GZIP] = "-gzip",
	[ENCODING_ZSTD] = "-zstd",
};

const struct encoding_list encoding_list_empty = {
	.weights = {ENCODING_UNSAID, ENCODING_UNSAID, ENCODING_UNSAID},
	.others = ENCODING_UNSAID,
};

const char *encoding_name(enum encoding encoding)
{
	return names[encoding];
}

/* --- Accept-Encoding -------------------------------------------------------
 */

static int16_t *weight_of(struct encoding_list *list, struct http_slice coding)
{
	if (http_slice_is(coding, "*"))
		return &list->others;
	if (http_slice_is_nocase(coding, "x-gzip"))
		return &list->weights[ENCODING_GZIP];
	for (size_t i = 0; i < ENCODING_COUNT; i++) {
		if (http_slice_is_nocase(coding, names[i]))
			return &list->weights[i];
	}
	return NULL;
}

void encoding_list_add(struct encoding_list *list, struct http_slice line)
{
	struct weighted element;
	int16_t *of;

	while (weighted_next(&line, &element)) {
		of = weight_of(list, element.value);
		if (of)
			*of = element.weight;
	}
}

struct encoding_list encoding_list_of(const struct http_request *req)
{
	struct encoding_list list = encoding_list_empty;
	struct http_slice line;
	size_t at = 0;

	while (http_header_next(req, "accept-encoding", &at, &line))
		encoding_list_add(&list, line);
	return list;
}

/* Identity is accepted unless it is refused; it is the default if the client
 * names no coding. */
static int effective_weight(const struct encoding_list *list, enum encoding e)
{
	if (list->weights[e] != ENCODING_UNSAID)
		return list->weights[e];
	if (list->others != ENCODING_UNSAID)
		return list->others;
	return e == ENCODING_IDENTITY ? 1 : 0;
}

bool encoding_accepted(const struct encoding_list *list, enum encoding e)
{
	return effective_weight(list, e) > 0;
}

bool encoding_choose(const struct encoding_list *list, size_t len,
		     enum encoding *ret)
{
	static const enum encoding by_taste[ENCODING_COUNT] = {
		ENCODING_ZSTD, ENCODING_GZIP, ENCODING_IDENTITY};
	enum encoding best = ENCODING_IDENTITY;
	int weight = 0;

	if (len >= BODY_MIN || !encoding_accepted(list, ENCODING_IDENTITY)) {
		for (size_t i = 0; i < ENCODING_COUNT; i++) {
			if (effective_weight(list, by_taste[i]) > weight) {
				best = by_taste[i];
				weight = effective_weight(list, best);
			}
		}
		if (!weight)
			return false;
	}
	*ret = best;
	return true;
}

/* --- entity tags ------------------------------------------------------------
 */

const char *encoding_etag(enum encoding e, const char *etag,
			  char text[ENCODING_ETAG_MAX])
{
	snprintf(text, ENCODING_ETAG_MAX, "%.*s%s\"", (int)strlen(etag) - 1,
		 etag, suffixes[e]);
	return text;
}

/* Returns true if `tag`, with its quotes, is that of one of the forms. */
static bool is_form(struct http_slice tag, const char *etag)
{
	char text[ENCODING_ETAG_MAX];

	for (int e = 0; e < ENCODING_COUNT; e++) {
		if (http_slice_is(tag,
				  encoding_etag((enum encoding)e, etag, text)))
			return true;
	}
	return false;
}

static bool is_between(char c)
{
	return c == ',' || c == ' ' || c == '\t';
}

/* Cuts the first tag off a list, with its quotes.  Returns false if there is
 * none. */
static bool next_tag(struct http_slice *rest, struct http_slice *ret_tag,
		     bool *ret_weak)
{
	const char *end;

	/* The list is not cut at commas: a tag may contain some. */
	while (rest->len && is_between(*rest->data)) {
		rest->data++;
		rest->len--;
	}
	*ret_weak = rest->len > 2 && !memcmp(rest->data, "W/", 2);
	if (*ret_weak) {
		rest->data += 2;
		rest->len -= 2;
	}
	if (!rest->len || *rest->data != '"')
		return false;
	end = memchr(rest->data + 1, '"', rest->len - 1);
	if (!end)
		return false;
	*ret_tag =
		(struct http_slice){rest->data, (size_t)(end + 1 - rest->data)};
	rest->data += ret_tag->len;
	rest->len -= ret_tag->len;
	return true;
}

bool encoding_etag_matches(struct http_slice if_none_match, const char *etag)
{
	struct http_slice rest = http_slice_trim(if_none_match), tag;
	bool weak;

	if (http_slice_is(rest, "*"))
		return true;
	/* The comparison is weak, as If-None-Match requires. */
	while (next_tag(&rest, &tag, &weak))
		if (is_form(tag, etag))
			return true;
	return false;
}

bool encoding_etag_is_one_of(struct http_slice if_match, const char *etag)
{
	struct http_slice rest = http_slice_trim(if_match), tag;
	bool weak;

	if (http_slice_is(rest, "*"))
		return true;
	while (next_tag(&rest, &tag, &weak))
		if (!weak && http_slice_is(tag, etag))
			return true;
	return false;
}
