#include "common/http/weighted.h"

#include <string.h>

/* Parses a qvalue: "0" or "1", and up to three digits after a point; at most
 * 1. */
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

static bool is_weight(struct http_slice parameter)
{
	return parameter.len > 1 &&
	       (*parameter.data == 'q' || *parameter.data == 'Q') &&
	       parameter.data[1] == '=';
}

/* "gzip;q=0.5", "text/csv; header=present; q=0.5": the weight is the last. */
static bool parse_element(struct http_slice element, struct weighted *ret)
{
	struct http_slice rest = element, parameter;

	*ret = (struct weighted){element, 1000};
	http_slice_cut(&rest, ';');
	while (rest.len) {
		ret->value.len = (size_t)(rest.data - element.data) - 1;
		parameter = http_slice_trim(rest);
		if (is_weight(parameter)) {
			ret->value = http_slice_trim(ret->value);
			parameter.data += 2;
			parameter.len -= 2;
			return parse_weight(parameter, &ret->weight);
		}
		http_slice_cut(&rest, ';');
	}
	ret->value.len = element.len;
	return true;
}

bool weighted_next(struct http_slice *line, struct weighted *ret)
{
	while (line->len) {
		if (parse_element(http_slice_cut(line, ','), ret) &&
		    ret->value.len)
			return true;
	}
	return false;
}
