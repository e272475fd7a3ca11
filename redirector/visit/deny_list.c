#include "redirector/visit/deny_list.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/network_list.h"
#include "common/read_file.h"

/* An address as a number; `high` is 0 for IPv4. */
struct number {
	uint64_t high, low;
};

struct network_range {
	struct number first, last;
};

/* IPv4 has half of the traffic: a cache line holds eight of these. */
struct range_v4 {
	uint32_t first, last;
};

struct deny_list {
	size_t count; /* number of networks */
	struct range_v4 *v4;
	size_t v4_count;
	struct network_range *v6;
	size_t v6_count;
};

/* --- numbers -------------------------------------------------------------- */

static struct number number_of(const struct address *a)
{
	struct number n = {0, 0};

	for (size_t i = 0; i < a->len; i++) {
		n.high = n.high << 8 | n.low >> 56;
		n.low = n.low << 8 | a->bytes[i];
	}
	return n;
}

static int compare_numbers(struct number a, struct number b)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return (a.low > b.low) - (a.low < b.low);
}

/* Returns a mask of the lowest `bits` bits, which may be none or all. */
static uint64_t low_mask(unsigned bits)
{
	return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static struct network_range range_of(const struct network *net)
{
	unsigned host = net->base.len * 8u - net->bits;
	struct network_range r = {number_of(&net->base), number_of(&net->base)};

	r.last.low |= low_mask(host);
	if (host > 64)
		r.last.high |= low_mask(host - 64);
	return r;
}

/* --- sorted ranges -------------------------------------------------------- */

static int by_first(const void *left, const void *right)
{
	const struct network_range *a = left, *b = right;

	return compare_numbers(a->first, b->first);
}

/* Joins ranges that overlap; returns the number that is left. */
static size_t join_ranges(struct network_range *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), by_first);
	for (size_t i = 0; i < count; i++) {
		struct network_range *before = kept ? &ranges[kept - 1] : NULL;

		if (!before ||
		    compare_numbers(before->last, ranges[i].first) < 0)
			ranges[kept++] = ranges[i];
		else if (compare_numbers(before->last, ranges[i].last) < 0)
			before->last = ranges[i].last;
	}
	return kept;
}

static int keep_v4(struct deny_list *list, struct buf *networks,
		   struct error *err)
{
	struct network_range *ranges =
		(struct network_range *)(void *)networks->data;
	size_t count = networks->len / sizeof(*ranges);

	if (!count)
		return 0;
	count = join_ranges(ranges, count);
	list->v4 = malloc(count * sizeof(*list->v4));
	if (!list->v4)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		list->v4[i] = (struct range_v4){(uint32_t)ranges[i].first.low,
						(uint32_t)ranges[i].last.low};
	list->v4_count = count;
	return 0;
}

static int keep_v6(struct deny_list *list, struct buf *networks,
		   struct error *err)
{
	struct network_range *ranges =
		(struct network_range *)(void *)networks->data;
	size_t count = networks->len / sizeof(*ranges);

	if (!count)
		return 0;
	count = join_ranges(ranges, count);
	list->v6 = malloc(count * sizeof(*list->v6));
	if (!list->v6)
		return error_set_nomem(err);
	memcpy(list->v6, ranges, count * sizeof(*ranges));
	list->v6_count = count;
	return 0;
}

/* --- the file ------------------------------------------------------------- */

/* State while a file is read. */
struct deny_reading {
	struct buf v4, v6; /* arrays of struct network_range */
	size_t count;
};

static int read_line(struct deny_reading *r, char *line, size_t len,
		     struct error *err)
{
	struct network net;
	struct network_range range;
	const char *wrong;

	if (memchr(line, '\0', len))
		return error_set(err, ERROR_CONFIG, "has a NUL byte");
	line[strcspn(line, "#;\r\n")] = '\0';
	line += strspn(line, " \t");
	len = strlen(line);
	while (len && strchr(" \t", line[len - 1]))
		line[--len] = '\0';
	if (!len)
		return 0;
	wrong = network_parse(line, &net);
	if (wrong)
		return error_set(err, ERROR_CONFIG, "'%.80s' %s", line, wrong);
	if (++r->count > DENY_NETWORKS_MAX)
		return error_set(err, ERROR_CONFIG, "more than %d networks",
				 DENY_NETWORKS_MAX);
	range = range_of(&net);
	buf_append(net.base.len == 4 ? &r->v4 : &r->v6, &range, sizeof(range));
	return 0;
}

static int read_lines(struct deny_reading *r, FILE *file, const char *path,
		      struct error *err)
{
	char *line = NULL;
	size_t size = 0, number = 0;
	ssize_t len;
	int status = 0;

	while (status == 0 && (len = getline(&line, &size, file)) >= 0) {
		number++;
		status = read_line(r, line, (size_t)len, err);
	}
	free(line);
	if (status < 0)
		return error_wrap(err, "%s:%zu", path, number);
	if (ferror(file))
		return error_set(err, ERROR_CONFIG, "%s: cannot be read: %s",
				 path, strerror(errno));
	if (r->v4.failed || r->v6.failed)
		return error_set_nomem(err);
	return 0;
}

static int read_path(struct deny_reading *r, const char *path,
		     struct error *err)
{
	struct error why;
	FILE *file = plain_file_stream(path, &why);
	int status;

	if (!file)
		return error_set(err, ERROR_CONFIG, "%s: %s", path, why.text);
	status = read_lines(r, file, path, err);
	fclose(file);
	return status;
}

struct deny_list *deny_list_load(const char *path, struct error *err)
{
	struct deny_list *list = calloc(1, sizeof(*list));
	struct deny_reading r = {.count = 0};

	if (!list) {
		error_set_nomem(err);
		return NULL;
	}
	if (read_path(&r, path, err) < 0 || keep_v4(list, &r.v4, err) < 0 ||
	    keep_v6(list, &r.v6, err) < 0) {
		deny_list_free(list);
		list = NULL;
	} else {
		list->count = r.count;
	}
	buf_free(&r.v4);
	buf_free(&r.v6);
	return list;
}

void deny_list_free(struct deny_list *list)
{
	if (!list)
		return;
	free(list->v4);
	free(list->v6);
	free(list);
}

size_t deny_list_count(const struct deny_list *list)
{
	return list->count;
}

/* --- searching ------------------------------------------------------------ */

static bool has_v4(const struct deny_list *list, uint32_t address)
{
	size_t from = 0, to = list->v4_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct range_v4 *r = &list->v4[middle];

		if (address < r->first)
			to = middle;
		else if (address > r->last)
			from = middle + 1;
		else
			return true;
	}
	return false;
}

static bool has_v6(const struct deny_list *list, struct number address)
{
	size_t from = 0, to = list->v6_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct network_range *r = &list->v6[middle];

		if (compare_numbers(address, r->first) < 0)
			to = middle;
		else if (compare_numbers(address, r->last) > 0)
			from = middle + 1;
		else
			return true;
	}
	return false;
}

bool deny_list_has(const struct deny_list *list, const struct address *address)
{
	struct number number = number_of(address);

	if (address->len == 4)
		return has_v4(list, (uint32_t)number.low);
	return address->len && has_v6(list, number);
}
