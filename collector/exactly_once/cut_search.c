#include "collector/exactly_once/cut_search.h"

/* Checks event *at.  If that is a hole, it checks the events before it, down to
 * `low`, then those after it, up to `high`. */
static int look_around(cut_look_fn *look, void *arg, size_t low, size_t high,
		       size_t *at, enum cut_found *ret, struct error *err)
{
	size_t middle = *at;

	for (*at = middle + 1; *at > low;) {
		--*at;
		if (look(arg, *at, ret, err) < 0)
			return -1;
		if (*ret != CUT_FOUND_HOLE)
			return 0;
	}
	for (*at = middle + 1; *at < high; ++*at) {
		if (look(arg, *at, ret, err) < 0)
			return -1;
		if (*ret != CUT_FOUND_HOLE)
			return 0;
	}
	return 0;
}

int cut_search(size_t count, cut_look_fn *look, void *arg, size_t *ret_there,
	       size_t *ret_other, struct error *err)
{
	size_t low = 0, high = count, at;
	enum cut_found found = CUT_FOUND_SAME;

	while (low < high) {
		at = low + (high - low) / 2;
		if (look_around(look, arg, low, high, &at, &found, err) < 0)
			return -1;
		if (found == CUT_FOUND_HOLE)
			break;
		if (found == CUT_FOUND_SAME)
			low = at + 1;
		else
			high = at;
	}
	*ret_there = low;
	*ret_other = high;
	return 0;
}
