#include "linkstore/space/space_gaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/command.h"
#include "linkstore/range.h"

/* Sorted, without overlaps. */
struct space_gaps {
	size_t count;
	struct block_range ranges[];
};

/* Parses a word of the record: "first-last" (first generation) or
 * "first-last:generation". */
static bool parse_gap(const char *word, size_t len, struct block_range *ret)
{
	char text[RANGE_TEXT_MAX];
	int size = snprintf(text, sizeof(text), "%.*s%s", (int)len, word,
			    memchr(word, ':', len) ? "" : ":1");

	return size < RANGE_TEXT_MAX && range_parse(text, (size_t)size, ret);
}

static int add_gaps(struct space_gaps *gaps, const char *text,
		    struct error *err)
{
	for (size_t len; *text; text += len) {
		len = strcspn(text, " ");
		if (len == 0)
			len = 1;
		else if (!parse_gap(text, len, &gaps->ranges[gaps->count++]))
			return error_set(err, ERROR_UNSAFE,
					 "the space's record of gaps has a "
					 "word that is no range: '%.*s'",
					 (int)(len < 60 ? len : 60), text);
	}
	return 0;
}

/* Sorts by generation, then by block. */
static int compare_gaps(const void *a, const void *b)
{
	const struct block_range *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void merge_overlaps(struct space_gaps *gaps)
{
	struct block_range *last = gaps->ranges;

	if (gaps->count == 0)
		return;
	for (size_t i = 1; i < gaps->count; i++) {
		const struct block_range *next = &gaps->ranges[i];

		if (next->generation != last->generation ||
		    next->first > last->last)
			*++last = *next;
		else if (next->last > last->last)
			last->last = next->last;
	}
	gaps->count = (size_t)(last - gaps->ranges) + 1;
}

static int parse_gaps(const char *skipped, const char *aside,
		      struct space_gaps **ret_gaps, struct error *err)
{
	/* Each word takes at least a byte and a space. */
	size_t max = (strlen(skipped) + strlen(aside)) / 2 + 2;
	struct space_gaps *gaps =
		calloc(1, sizeof(*gaps) + max * sizeof(gaps->ranges[0]));

	if (!gaps)
		return error_set_nomem(err);
	if (add_gaps(gaps, skipped, err) || add_gaps(gaps, aside, err)) {
		free(gaps);
		return -1;
	}
	qsort(gaps->ranges, gaps->count, sizeof(gaps->ranges[0]), compare_gaps);
	merge_overlaps(gaps);
	*ret_gaps = gaps;
	return 0;
}

int space_gaps_read(struct redis *redis, const struct link_space *space,
		    struct space_gaps **ret_gaps, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	command_plain(&c, "HMGET");
	command_space_key(&c, "space:", space);
	command_text(&c, "gaps");
	command_text(&c, "set_aside");
	if (command_run(&c, redis, &reply, err))
		return -1;
	if (reply_is_array(reply, 2))
		status = parse_gaps(reply_text(reply, 0), reply_text(reply, 1),
				    ret_gaps, err);
	else
		status = reply_malformed("HMGET", err);
	freeReplyObject(reply);
	return status;
}

bool space_gaps_has(const struct space_gaps *gaps, uint64_t block,
		    uint32_t generation)
{
	const struct block_range wanted = {block, block, generation};
	size_t low = 0, high = gaps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_gaps(&gaps->ranges[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && gaps->ranges[low - 1].generation == generation &&
	       gaps->ranges[low - 1].last >= block;
}

void space_gaps_free(struct space_gaps *gaps)
{
	free(gaps);
}
