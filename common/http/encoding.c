#include "common/http/encoding.h"

#include <stdio.h>
#include <string.h>

/* Below it a body fits into one packet with its head: nothing is won. */
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

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static struct http_slice trim(struct http_slice s)
{
	while (s.len && is_space(*s.data)) {
		s.data++;
		s.len--;
	}
	while (s.len && is_space(s.data[s.len - 1]))
		s.len--;
	return s;
}

/* Cuts off what stands before `separator`, which `rest` is then behind. */
static struct http_slice take(struct http_slice *rest, char separator)
{
	const char *end =
		rest->len ? memchr(rest->data, separator, rest->len) : NULL;
	struct http_slice part = *rest;

	if (end)
		part.len = (size_t)(end - rest->data);
	rest->data += part.len + (end ? 1 : 0);
	rest->len -= part.len + (end ? 1 : 0);
	return trim(part);
}

/* qvalue: "0" or "1", and up to three digits behind a point; at most 1. */
static bool parse_weight(struct http_slice text, int16_t *ret)
{
	int value, scale = 100;

	if (!text.len || text.len > 5 ||
	    (*text.data != '0' && *text.data != '1') ||
	    (text.len > 1 && text.data[1] != '.'))
		return false;
	value = (*text.data - '0') * 1000;
	for (size_t i = 2; i < text.len; i++, scale /= 10) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		value += (text.data[i] - '0') * scale;
	}
	if (value > 1000)
		return false;
	*ret = (int16_t)value;
	return true;
}

/* "gzip;q=0.5" */
static bool parse_element(struct http_slice element, struct http_slice *ret,
			  int16_t *ret_weight)
{
	bool weighted = element.len && memchr(element.data, ';', element.len);

	*ret = take(&element, ';');
	*ret_weight = 1000;
	element = trim(element);
	if (!weighted)
		return true;
	if (element.len < 2 || (*element.data != 'q' && *element.data != 'Q') ||
	    element.data[1] != '=')
		return false;
	element.data += 2;
	element.len -= 2;
	return parse_weight(element, ret_weight);
}

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
	struct http_slice coding;
	int16_t weight, *of;

	while (line.len) {
		if (!parse_element(take(&line, ','), &coding, &weight))
			continue;
		of = weight_of(list, coding);
		if (of)
			*of = weight;
	}
}

struct encoding_list encoding_list_of(const struct http_request *req)
{
	struct encoding_list list = encoding_list_empty;
	struct http_header header;

	for (size_t i = 0; i < http_header_count(req); i++) {
		header = http_header_at(req, i);
		if (http_slice_is_nocase(header.name, "accept-encoding"))
			encoding_list_add(&list, header.value);
	}
	return list;
}

/* Identity is accepted unless it is refused, and is what nobody asked for. */
static int weigh(const struct encoding_list *list, enum encoding e)
{
	if (list->weights[e] != ENCODING_UNSAID)
		return list->weights[e];
	if (list->others != ENCODING_UNSAID)
		return list->others;
	return e == ENCODING_IDENTITY ? 1 : 0;
}

bool encoding_accepted(const struct encoding_list *list, enum encoding e)
{
	return weigh(list, e) > 0;
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
			if (weigh(list, by_taste[i]) > weight) {
				best = by_taste[i];
				weight = weigh(list, best);
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

/* Whether `tag`, with its quotes, is that of a form. */
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

bool encoding_etag_matches(struct http_slice if_none_match, const char *etag)
{
	struct http_slice rest = trim(if_none_match), tag;
	const char *end;

	if (http_slice_is(rest, "*"))
		return true;
	while (rest.len) {
		/* Compared weakly, as If-None-Match is. */
		if (rest.len > 2 && !memcmp(rest.data, "W/", 2)) {
			rest.data += 2;
			rest.len -= 2;
		}
		if (*rest.data != '"')
			return false;
		end = memchr(rest.data + 1, '"', rest.len - 1);
		if (!end)
			return false;
		tag = (struct http_slice){rest.data,
					  (size_t)(end + 1 - rest.data)};
		if (is_form(tag, etag))
			return true;
		rest.data += tag.len;
		rest.len -= tag.len;
		/* A tag may have commas in it, none stands between two. */
		while (rest.len &&
		       (is_space(*rest.data) || *rest.data == ',')) {
			rest.data++;
			rest.len--;
		}
	}
	return false;
}
