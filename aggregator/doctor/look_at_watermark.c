#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/watermark_reader.h"
#include "common/clock.h"

/* An older watermark counts as behind. */
#define WATERMARK_AGE (5 * CLOCK_MINUTE)

/* Whether the watermark stays before an hour that cannot be settled, although
 * partitions promise more. */
static bool waits_for_hour(const struct doctor *d,
			   const struct watermark *reported)
{
	int64_t until = d->published.complete_until;

	return until && until % CLOCK_HOUR == 0 &&
	       reported->complete_until - d->settings->clicks.edge_delay >
		       until + WATERMARK_AGE;
}

static void say_watermark(struct doctor *d, const struct watermark *reported)
{
	int64_t until = d->published.complete_until;
	int64_t age = reported->server_ms - until;
	char text[RFC3339_TEXT_MAX], waits[320] = "";

	if (waits_for_hour(d, reported))
		snprintf(waits, sizeof(waits),
			 "; it waits for the hour that begins then, which is "
			 "not settled: the aggregator's log says why");
	else if (*reported->topic)
		snprintf(waits, sizeof(waits),
			 "; it waits for partition %" PRIu32 " of %s%s",
			 reported->partition, reported->topic,
			 reported->complete_until
				 ? ""
				 : ", which has reported nothing");
	if (!until)
		doctor_say(d, DOCTOR_BEHIND, "watermark", "not known%s", waits);
	else if (age < 0)
		doctor_say(d, DOCTOR_WRONG, "watermark",
			   "%s, beyond ClickHouse's clock; see 'aggregator "
			   "watermark'",
			   rfc3339_format(until, text));
	else
		doctor_say(d, age > WATERMARK_AGE ? DOCTOR_BEHIND : DOCTOR_FINE,
			   "watermark",
			   "complete until %s, %" PRId64 " s ago%s",
			   rfc3339_format(until, text), age / 1000, waits);
}

/* Only the operator knows which topics need not be waited for any more. */
static void say_silent(struct doctor *d, const struct watermark *reported)
{
	char text[RFC3339_TEXT_MAX];

	if (reported->silent_since)
		doctor_say(d, DOCTOR_BEHIND, "topics",
			   "no collector has reported on %s since %s, but "
			   "others have: do its collectors run? If none reads "
			   "it any more, name it in aggregator.retired_topics",
			   reported->topic,
			   rfc3339_format(reported->silent_since, text));
	else
		doctor_say(d, DOCTOR_FINE, "topics",
			   "none that is waited for is silent");
}

int look_at_watermark(struct doctor *d, struct error *err)
{
	struct watermark_reader *reader;
	struct watermark reported;
	int status = -1;

	reader = watermark_reader_new(d->settings, err);
	if (reader)
		status = watermark_read(reader, d->ch, d->published.mended,
					&reported, err);
	watermark_reader_free(reader);
	if (status < 0)
		return -1;
	say_watermark(d, &reported);
	say_silent(d, &reported);
	if (reported.ahead_ms > CLOCK_MINUTE)
		doctor_say(d, DOCTOR_WRONG, "clocks",
			   "times reported in the last ten minutes lie up to "
			   "%" PRId64 " s beyond ClickHouse's clock",
			   reported.ahead_ms / 1000);
	else
		doctor_say(d, DOCTOR_FINE, "clocks",
			   "none is ahead of ClickHouse's");
	return 0;
}
