#include "collector/tools/verify/verify_report.h"

#include <inttypes.h>
#include <math.h>

#include "common/clock.h"
#include "common/output.h"

#define COUNTS 8
/* Limit of the shown findings of a kind in each partition. */
#define SHOWN_MAX 20

/* The counts of each span, in this order. */
static void counts_of(const struct span *s, uint64_t counts[COUNTS])
{
	const uint64_t all[COUNTS] = {
		s->events,   s->rows,	 s->dead + s->dead_gone,
		s->replaced, s->waiting, s->missing,
		s->twice,    s->unknown};

	for (int i = 0; i < COUNTS; i++)
		counts[i] += all[i];
}

static const char *const keys[COUNTS] = {"events",   "rows",	"dead_letters",
					 "replaced", "waiting", "missing",
					 "twice",    "unknown"};

static uint64_t sum_of(const struct verify *v, size_t at)
{
	uint64_t sum[COUNTS] = {0};

	for (size_t i = 0; i < v->span_count; i++)
		counts_of(&v->spans[i], sum);
	return sum[at];
}

bool verify_is_well(const struct verify *v)
{
	return !event_findings_events(&v->findings) && !v->settled.count &&
	       !v->clocks.count;
}

static const char *range_text(uint64_t first, uint64_t last, char text[48])
{
	if (first == last)
		snprintf(text, 48, "%" PRIu64, first);
	else
		snprintf(text, 48, "%" PRIu64 "-%" PRIu64, first, last);
	return text;
}

/* --- for people ----------------------------------------------------------- */

static void put_span(struct table *t, const struct span *s)
{
	uint64_t counts[COUNTS] = {0};
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu32, s->where.partition);
	table_text(t, text);
	snprintf(text, sizeof(text), "%" PRIu32, s->where.epoch);
	table_text(t, text);
	table_text(t, s->available ? "Kafka" : "reports");
	table_text(t,
		   s->where.end > s->where.first
			   ? range_text(s->where.first, s->where.end - 1, text)
			   : "-");
	counts_of(s, counts);
	for (int i = 0; i < COUNTS; i++)
		table_number(t, counts[i]);
}

static int print_spans(const struct verify *v, struct error *err)
{
	struct table *t = table_new(
		"partition|epoch|by|offsets|>events|>rows|>dead letters|"
		">replaced|>waiting|>missing|>twice|>unknown");

	for (size_t i = 0; i < v->span_count; i++)
		put_span(t, &v->spans[i]);
	table_text(t, "all");
	for (int i = 0; i < 3; i++)
		table_text(t, "");
	for (size_t i = 0; i < COUNTS; i++)
		table_number(t, sum_of(v, i));
	return output_table(t, err);
}

static void put_finding(struct table *t, const struct event_finding *f)
{
	char text[48];

	table_text(t, event_finding_name(f->kind));
	snprintf(text, sizeof(text), "%" PRIu32, f->partition);
	table_text(t, text);
	snprintf(text, sizeof(text), "%" PRIu32, f->epoch);
	table_text(t, text);
	table_text(t, range_text(f->first, f->last, text));
	table_number(t, f->events);
	table_text(t, event_finding_text(f->kind));
}

/* The number of findings of each kind in a partition, shown or not. */
struct kinds {
	uint32_t partition, epoch;
	uint64_t count[FINDING_KINDS];
};

static void put_left_out(struct table *t, const struct kinds *kinds)
{
	char text[48];

	for (int i = 0; i < FINDING_KINDS; i++) {
		if (kinds->count[i] <= SHOWN_MAX)
			continue;
		table_text(t, event_finding_name((enum event_finding_kind)i));
		snprintf(text, sizeof(text), "%" PRIu32, kinds->partition);
		table_text(t, text);
		snprintf(text, sizeof(text), "%" PRIu32, kinds->epoch);
		table_text(t, text);
		snprintf(text, sizeof(text), "and %" PRIu64 " more",
			 kinds->count[i] - SHOWN_MAX);
		table_text(t, text);
		table_text(t, "");
		table_text(t, "--all shows them");
	}
}

/* Findings of a partition are adjacent. */
static void put_findings(struct table *t, const struct event_findings *f,
			 bool all)
{
	struct kinds kinds = {0};

	for (size_t i = 0; i < f->count; i++) {
		const struct event_finding *it = &f->list[i];

		if (it->partition != kinds.partition ||
		    it->epoch != kinds.epoch) {
			put_left_out(t, &kinds);
			kinds = (struct kinds){it->partition, it->epoch, {0}};
		}
		if (all || kinds.count[it->kind]++ < SHOWN_MAX)
			put_finding(t, it);
	}
	put_left_out(t, &kinds);
}

static int print_findings(const struct event_findings *f, bool all,
			  struct error *err)
{
	struct table *t =
		table_new("finding|partition|epoch|offsets|>events|what");

	put_findings(t, f, all);
	putchar('\n');
	if (output_table(t, err) < 0)
		return -1;
	if (f->unnamed)
		puts("and more, which are counted above");
	return 0;
}

static const char *start_text(const struct settled_difference *d,
			      char text[RFC3339_TEXT_MAX])
{
	rfc3339_format(d->start * 1000, text);
	if (d->what == SETTLED_SLOTS || d->what == SETTLED_VISITS ||
	    d->what == SETTLED_HELD_BACK_DAY)
		text[sizeof("2026-11-21") - 1] = '\0';
	return text;
}

static int print_differences(const struct settled *s, struct error *err)
{
	struct table *t =
		table_new("finding|hour or day (UTC)|table|>rows|>settled|"
			  "what");
	char text[RFC3339_TEXT_MAX];

	for (size_t i = 0; i < s->count; i++) {
		const struct settled_difference *d = &s->list[i];

		table_text(t, settled_name(d->what));
		table_text(t, start_text(d, text));
		table_text(t, settled_table(d->what));
		table_number(t, d->rows);
		table_number(t, d->settled);
		table_text(t, settled_text(d->what));
	}
	putchar('\n');
	return output_table(t, err);
}

static void put_ahead(struct table *t, const struct ahead *a)
{
	char text[48], time[RFC3339_TEXT_MAX];

	table_text(t, ahead_name(a->kind));
	if (a->reports) {
		snprintf(text, sizeof(text), "%" PRIu32, a->partition);
		table_text(t, text);
		snprintf(text, sizeof(text), "%" PRIu32, a->epoch);
		table_text(t, text);
		table_text(t, range_text(a->first, a->last, text));
		table_number(t, a->reports);
	} else {
		for (int i = 0; i < 4; i++)
			table_text(t, "-");
	}
	table_text(t, rfc3339_format(a->time_ms, time));
	table_text(t, ahead_text(a->kind));
}

static int print_clocks(const struct clocks *c, struct error *err)
{
	struct table *t =
		table_new("finding|partition|epoch|offsets|>reports|time|what");
	char text[RFC3339_TEXT_MAX];

	for (size_t i = 0; i < c->count; i++)
		put_ahead(t, &c->list[i]);
	putchar('\n');
	if (output_table(t, err) < 0)
		return -1;
	printf("By ClickHouse's clock it is %s.\n",
	       rfc3339_format(c->list[0].server_ms, text));
	return 0;
}

static void say_settled(const struct settled *s)
{
	char text[RFC3339_TEXT_MAX];

	printf("Settled: %" PRIu64 " hours and %" PRIu64
	       " days agree with their rows, %zu counts do not.\n",
	       s->hours, s->days, s->count);
	if (s->hours_waiting)
		printf("Not settled yet: %" PRIu64 " hours, from %s on.\n",
		       s->hours_waiting,
		       rfc3339_format(s->oldest_waiting * 1000, text));
}

/* For letters that are gone, only a count was reported. */
static void say_all_is_well(const struct verify *v, uint64_t gone)
{
	printf("Every event is accounted for exactly once");
	if (v->settled.count)
		printf(", but not in what was settled");
	if (gone)
		printf("%s %" PRIu64 " by nothing but the report that they "
		       "were dead letters",
		       v->settled.count ? ";" : ",", gone);
	puts(".");
}

static void say_end(const struct verify *v)
{
	uint64_t dropped = 0, gone = 0;

	for (size_t i = 0; i < v->span_count; i++) {
		dropped += v->spans[i].available ? 0 : v->spans[i].events;
		gone += v->spans[i].dead_gone;
	}
	putchar('\n');
	if (dropped)
		printf("Kafka no longer holds %" PRIu64
		       " events: they were compared with what the collectors "
		       "reported.\n",
		       dropped);
	if (gone)
		printf("%" PRIu64
		       " events were reported as dead letters that are not in "
		       "%s any more.\n",
		       gone, v->config->kafka.topic_dlq);
	if (v->settled.compared)
		say_settled(&v->settled);
	if (event_findings_events(&v->findings))
		printf("Not accounted for once: %" PRIu64 " events.\n",
		       event_findings_events(&v->findings));
	else
		say_all_is_well(v, gone);
	if (v->clocks.count)
		puts("Times lie beyond ClickHouse's clock.");
}

int verify_print_text(const struct verify *v, double seconds, struct error *err)
{
	char from[RFC3339_TEXT_MAX], to[RFC3339_TEXT_MAX];

	printf("%s from %s to %s, in %.1f s\n", v->topic,
	       rfc3339_format(v->from, from), rfc3339_format(v->to, to),
	       seconds);
	if (print_spans(v, err) < 0)
		return -1;
	if (event_findings_events(&v->findings) &&
	    print_findings(&v->findings, v->show_all, err) < 0)
		return -1;
	if (v->settled.count && print_differences(&v->settled, err) < 0)
		return -1;
	if (v->clocks.count && print_clocks(&v->clocks, err) < 0)
		return -1;
	say_end(v);
	return 0;
}

/* --- for programs --------------------------------------------------------- */

static void set_count(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

static json_t *span_json(const struct span *s)
{
	uint64_t counts[COUNTS] = {0};
	json_t *o = json_pack("{s:I, s:I, s:s, s:I, s:I}", "partition",
			      (json_int_t)s->where.partition, "epoch",
			      (json_int_t)s->where.epoch, "by",
			      s->available ? "kafka" : "reports", "first",
			      (json_int_t)s->where.first, "end",
			      (json_int_t)s->where.end);

	counts_of(s, counts);
	for (int i = 0; i < COUNTS; i++)
		set_count(o, keys[i], counts[i]);
	set_count(o, "dead_letters_gone", s->dead_gone);
	return o;
}

static json_t *finding_json(const struct event_finding *f)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:s}", "finding",
			 event_finding_name(f->kind), "partition",
			 (json_int_t)f->partition, "epoch",
			 (json_int_t)f->epoch, "first", (json_int_t)f->first,
			 "last", (json_int_t)f->last, "events",
			 (json_int_t)f->events, "what",
			 event_finding_text(f->kind));
}

static json_t *difference_json(const struct settled_difference *d)
{
	char text[RFC3339_TEXT_MAX];

	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s}", "finding",
			 settled_name(d->what), "start", start_text(d, text),
			 "table", settled_table(d->what), "rows",
			 (json_int_t)d->rows, "settled", (json_int_t)d->settled,
			 "what", settled_text(d->what));
}

static json_t *settled_json(const struct settled *s)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(list, difference_json(&s->list[i]));
	set_count(o, "hours", s->hours);
	set_count(o, "days", s->days);
	set_count(o, "hours_waiting", s->hours_waiting);
	set_count(o, "days_waiting", s->days_waiting);
	json_object_set_new(o, "differences", list);
	return o;
}

static json_t *ahead_json(const struct ahead *a)
{
	char time[RFC3339_TEXT_MAX], server[RFC3339_TEXT_MAX];
	json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "finding",
			      ahead_name(a->kind), "time",
			      rfc3339_format(a->time_ms, time), "clickhouse",
			      rfc3339_format(a->server_ms, server), "what",
			      ahead_text(a->kind));

	if (a->reports) {
		set_count(o, "partition", a->partition);
		set_count(o, "epoch", a->epoch);
		set_count(o, "first", a->first);
		set_count(o, "last", a->last);
		set_count(o, "reports", a->reports);
	}
	return o;
}

static json_t *clocks_json(const struct clocks *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->count; i++)
		json_array_append_new(list, ahead_json(&c->list[i]));
	return list;
}

int verify_print_json(const struct verify *v, double seconds, struct error *err)
{
	char from[RFC3339_TEXT_MAX], to[RFC3339_TEXT_MAX];
	json_t *spans = json_array(), *findings = json_array(), *root;

	for (size_t i = 0; i < v->span_count; i++)
		json_array_append_new(spans, span_json(&v->spans[i]));
	for (size_t i = 0; i < v->findings.count; i++)
		json_array_append_new(findings,
				      finding_json(&v->findings.list[i]));
	root = json_pack("{s:s, s:s, s:s, s:I, s:f, s:b, s:o, s:o}", "topic",
			 v->topic, "from", rfc3339_format(v->from, from), "to",
			 rfc3339_format(v->to, to), "epoch",
			 (json_int_t)v->epoch, "seconds",
			 round(seconds * 1000) / 1000, "ok",
			 (int)verify_is_well(v), "partitions", spans,
			 "findings", findings);
	if (root) {
		set_count(root, "findings_events",
			  event_findings_events(&v->findings));
		json_object_set_new(root, "findings_all_named",
				    json_boolean(!v->findings.unnamed));
		for (size_t i = 0; i < COUNTS; i++)
			set_count(root, keys[i], sum_of(v, i));
		json_object_set_new(root, "clocks", clocks_json(&v->clocks));
		if (v->settled.compared)
			json_object_set_new(root, "settled",
					    settled_json(&v->settled));
	}
	return output_json(root, err);
}
