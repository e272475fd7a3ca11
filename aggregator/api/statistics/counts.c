#include "aggregator/api/statistics/counts.h"

#include <inttypes.h>

#include "aggregator/api/call.h"
#include "common/clickhouse/tsv.h"

struct counts counts_read(char *const fields[COUNTS_FIELDS])
{
	return (struct counts){
		.events = tsv_u64(fields[0]),
		.redirected = tsv_u64(fields[1]),
		.bots = tsv_u64(fields[2]),
		.prefetches = tsv_u64(fields[3]),
		.visitors = tsv_u64(fields[4]),
		.ips = tsv_u64(fields[5]),
		.visitors_known = *fields[4] != '\0',
		.ips_known = *fields[5] != '\0',
	};
}

static uint64_t count_humans(const struct counts *c)
{
	return c->redirected - c->bots - c->prefetches;
}

uint64_t counts_clicks(const struct counts *c, enum bots_mode mode)
{
	switch (mode) {
	case BOTS_INCLUDE:
		return c->redirected;
	case BOTS_ONLY:
		return c->bots + c->prefetches;
	case BOTS_EXCLUDE:
		break;
	}
	return count_humans(c);
}

static bool is_biased(uint64_t estimate)
{
	const uint64_t registers = UINT64_C(1) << 14;

	return estimate > registers * 5 / 2 && estimate < registers * 7 / 2;
}

bool counts_are_biased(const struct counts *c)
{
	return is_biased(c->visitors) || is_biased(c->ips);
}

void counts_cap(struct counts *c, enum bots_mode mode)
{
	uint64_t clicks = counts_clicks(c, mode);

	if (c->visitors > clicks)
		c->visitors = clicks;
	if (c->ips > clicks)
		c->ips = clicks;
}

struct counts counts_less(const struct counts *a, const struct counts *b)
{
	return (struct counts){
		.events = a->events - b->events,
		.redirected = a->redirected - b->redirected,
		.bots = a->bots - b->bots,
		.prefetches = a->prefetches - b->prefetches,
	};
}

void counts_add(struct counts *sum, const struct counts *c)
{
	sum->events += c->events;
	sum->redirected += c->redirected;
	sum->bots += c->bots;
	sum->prefetches += c->prefetches;
}

static json_t *count_or_null(bool known, uint64_t n)
{
	return known ? json_count(n) : json_null();
}

int counts_to_json(const struct counts *c, enum bots_mode mode, json_t *object)
{
	int status = 0;

	status |= json_object_set_new(object, "clicks",
				      json_count(counts_clicks(c, mode)));
	status |= json_object_set_new(
		object, "visitors",
		count_or_null(c->visitors_known || c->sampled, c->visitors));
	status |= json_object_set_new(object, "ips",
				      count_or_null(c->ips_known, c->ips));
	status |= json_object_set_new(object, "humans",
				      json_count(count_humans(c)));
	status |= json_object_set_new(object, "bots", json_count(c->bots));
	status |= json_object_set_new(object, "prefetches",
				      json_count(c->prefetches));
	status |= json_object_set_new(object, "events", json_count(c->events));
	if (c->sampled)
		status |= json_object_set_new(object, "unique_error",
					      json_real(c->sample_error));
	return status;
}

const char counts_csv_header[] =
	"clicks,visitors,ips,humans,bots,prefetches,events";

void counts_to_csv(const struct counts *c, enum bots_mode mode, struct buf *out)
{
	buf_printf(out, "%" PRIu64 ",", counts_clicks(c, mode));
	if (c->visitors_known || c->sampled)
		buf_put_uint(out, c->visitors);
	buf_putc(out, ',');
	if (c->ips_known)
		buf_put_uint(out, c->ips);
	buf_putc(out, ',');
	buf_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		   count_humans(c), c->bots, c->prefetches, c->events);
}
