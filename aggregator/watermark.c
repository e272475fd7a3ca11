#include "aggregator/commands.h"

#include <stdio.h>
#include <unistd.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/progress.h"
#include "aggregator/settle/settling.h"
#include "aggregator/settle/watermark_reader.h"
#include "common/clock.h"
#include "common/host_name.h"

struct watermark_state {
	struct progress published;
	struct watermark reported;
	int64_t promised; /* by the reports, ms; 0: a partition is silent */
};

static int read_state(struct clickhouse *ch,
		      const struct aggregator_config *config,
		      struct watermark_state *ret, struct error *err)
{
	int64_t delay = config->aggregator.clicks.edge_delay;
	struct watermark_reader *reader;
	int status;

	if (progress_read_last(ch, &ret->published, err) < 0)
		return -1;
	reader = watermark_reader_new(&config->aggregator, err);
	status = reader ? watermark_read(reader, ch, ret->published.mended,
					 &ret->reported, err)
			: -1;
	watermark_reader_free(reader);
	if (status < 0)
		return -1;
	ret->promised = ret->reported.complete_until
				? ret->reported.complete_until - delay
				: 0;
	return 0;
}

static bool is_beyond(const struct watermark_state *s)
{
	return s->published.complete_until > s->reported.server_ms;
}

static void show_time(const char *what, int64_t ms, const char *remark)
{
	char text[RFC3339_TEXT_MAX];

	printf("%-16s%s%s\n", what, ms ? rfc3339_format(ms, text) : "not known",
	       remark);
}

static void show_watermark(const struct watermark_state *s)
{
	char text[RFC3339_TEXT_MAX];

	show_time("published", s->published.complete_until,
		  is_beyond(s) ? ", beyond ClickHouse's clock" : "");
	show_time("reported", s->promised, "");
	show_time("ClickHouse", s->reported.server_ms, "");
	if (*s->reported.topic)
		printf("%-16spartition %u of %s%s\n", "waits for",
		       s->reported.partition, s->reported.topic,
		       s->promised ? "" : ", which has reported nothing");
	if (s->reported.silent_since)
		printf("no collector has reported on %s since %s, but others "
		       "have: if no collector reads it any more, name it "
		       "in aggregator.retired_topics\n",
		       s->reported.topic,
		       rfc3339_format(s->reported.silent_since, text));
	if (s->reported.ahead_ms > CLOCK_MINUTE)
		printf("times reported in ingest_progress lie up to %lld s "
		       "beyond "
		       "ClickHouse's clock\n",
		       (long long)s->reported.ahead_ms / 1000);
}

/* Chooses the new watermark: --to, or what the reports promise. */
static int choose_watermark(const struct watermark_state *s, struct app *app,
			    int64_t *ret_ms, struct error *err)
{
	int64_t now = s->published.complete_until;

	*ret_ms = s->promised;
	if (app_option_time(app, "to", ret_ms, err) < 0)
		return -1;
	if (app_option_value(app, "to"))
		return *ret_ms < now ? 0
				     : error_set(err, ERROR_USAGE,
						 "--to: a mark is only "
						 "lowered");
	if (!is_beyond(s))
		return error_set(err, ERROR_UNSAFE,
				 "there is nothing to mend: what is published "
				 "can be so (--to lowers it anyway)");
	if (!s->promised)
		return error_set(err, ERROR_UNSAFE,
				 "a partition has reported nothing, so nothing "
				 "is promised: give --to");
	return 0;
}

/* A settler that has read the old mark may still publish it, but without the
 * number of this row, so that the old mark is ignored. */
static int mend_watermark(struct clickhouse *ch,
			  const struct watermark_state *s, int64_t to,
			  struct error *err)
{
	struct settled_row row = {SETTLED_PASS,
				  {.start = s->reported.server_ms / 1000},
				  settling_attempt_next(s->reported.server_ms,
							s->published.attempt)};
	struct progress said = {.complete_until = to, .mended = row.attempt};
	char host[HOST_NAME_SIZE];
	const struct settling settling = {
		.ch = ch,
		.settler = host,
		.clock = {s->reported.server_ms, clock_monotonic_ms()},
	};

	host_name(host, sizeof(host), "by hand");
	if (progress_read_until(ch, &said.read_until, err) < 0 ||
	    settling_insert(&settling, &row, 1, &said, err) < 0)
		return -1;
	show_time("mended to", to, "");
	return 0;
}

int aggregator_watermark(struct app *app, const void *arg, struct error *err)
{
	const struct aggregator_config *config = arg;
	bool mends = app_option_value(app, "mend");
	struct clickhouse *ch;
	struct watermark_state state;
	int status = -1;
	int64_t to;

	if (!mends && app_option_value(app, "to"))
		return error_set(err, ERROR_USAGE, "--to: of --mend");
	ch = clickhouse_new(&config->clickhouse, err);
	if (!ch)
		return -1;
	if (read_state(ch, config, &state, err) < 0)
		goto out;
	show_watermark(&state);
	if (!mends)
		status = is_beyond(&state);
	else if (choose_watermark(&state, app, &to, err) == 0)
		status = mend_watermark(ch, &state, to, err);
out:
	clickhouse_free(ch);
	return status;
}
