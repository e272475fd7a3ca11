/*
 * explain_command.c - `collector explain`: shows the collector's results for
 * visits, NDJSON in and out, line by line.
 *
 * Every line of input has its line of output, in order; for blank and invalid
 * lines it is an object with `error`.  All lines are answered before the
 * command waits for more, so that another program can use it like a function.
 */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector_config.h"
#include "collector/commands.h"
#include "collector/enrich/cache.h"
#include "collector/enrich/device_class.h"
#include "collector/enrich/enricher.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/row.h"
#include "collector/enrich/ua/ua.h"
#include "collector/tools/explain/json_member.h"
#include "collector/tools/explain/trace.h"
#include "collector/tools/explain/visit_question.h"
#include "collector/tools/line_reader.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/error.h"

/* --- answers -------------------------------------------------------------- */

/* The code that makes rows of clicks finds the values, so that the answers
 * equal the tables. */
struct answerer {
	const struct collector_settings *settings;
	struct enricher *enricher;
	struct ua_parser *parser;
	struct ua_result ua;
	/* Cached parts of answers, by user agent and by place. */
	struct cache *agents;
	struct cache *places;
	struct buf piece;
	struct trace *trace; /* NULL: no trace is wanted */
};

static void answerer_free(struct answerer *a)
{
	if (!a)
		return;
	trace_free(a->trace);
	ua_parser_free(a->parser);
	ua_result_free(&a->ua);
	cache_free(a->agents);
	cache_free(a->places);
	buf_free(&a->piece);
	enricher_free(a->enricher);
	free(a);
}

/* Loads the collector's files.  `traced`: answers show which rule decided each
 * value.  `settings` must outlive it. */
static struct answerer *answerer_new(const struct collector_settings *settings,
				     bool traced, struct error *err)
{
	struct answerer *a = calloc(1, sizeof(*a));
	const struct reference *ref;

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	a->settings = settings;
	a->enricher = enricher_new(settings, err);
	if (!a->enricher)
		goto fail;
	ref = enricher_reference(a->enricher);
	a->parser = ua_parser_new(ref->ua, err);
	a->agents = cache_new((size_t)settings->ua_cache, err);
	a->places = cache_new((size_t)settings->geo_cache, err);
	if (!a->parser || !a->agents || !a->places)
		goto fail;
	if (!traced)
		return a;
	a->trace = trace_new(ref, err);
	if (a->trace)
		return a;
fail:
	answerer_free(a);
	return NULL;
}

static void put_part(struct answerer *a, const char *name, enum ua_field first,
		     const char *const *keys)
{
	member_open(&a->piece, name);
	for (size_t i = 0; keys[i]; i++) {
		struct ua_text t = ua_get(&a->ua, (enum ua_field)(first + i));

		member_text(&a->piece, keys[i], t.data, t.len);
	}
	buf_putc(&a->piece, '}');
}

static int put_agent(struct answerer *a, const char *text, size_t len,
		     struct error *err)
{
	static const char *const agent[] = {"family", "major", "minor", "patch",
					    NULL};
	static const char *const os[] = {"family", "major",	  "minor",
					 "patch",  "patch_minor", NULL};
	static const char *const device[] = {"family", "brand", "model", NULL};

	if (device_parse(a->parser, text, len, &a->ua, err) < 0)
		return -1;
	buf_reset(&a->piece);
	put_part(a, "user_agent", UA_FAMILY, agent);
	put_part(a, "os", UA_OS_FAMILY, os);
	put_part(a, "device", UA_DEVICE_FAMILY, device);
	if (a->piece.failed)
		return error_set_nomem(err);
	cache_put(a->agents, text, len, a->piece.data, a->piece.len);
	return 0;
}

/* Appends user_agent, os and device; for a trace, which needs the result, the
 * agent is parsed again. */
static int append_agent(struct answerer *a, const char *text, size_t len,
			struct buf *out, struct error *err)
{
	size_t piece_len;
	const char *piece =
		a->trace ? NULL : cache_get(a->agents, text, len, &piece_len);

	if (piece) {
		buf_append(out, piece, piece_len);
		return 0;
	}
	if (put_agent(a, text, len, err) < 0)
		return -1;
	buf_append(out, a->piece.data, a->piece.len);
	return 0;
}

static void put_geo_text(struct buf *b, const char *key, struct geo_text t)
{
	member_text(b, key, t.data, t.len);
}

static void put_place(struct buf *b, const struct geo_record *r)
{
	bool located = r->latitude != 0 || r->longitude != 0;

	member_open(b, "geo");
	put_geo_text(b, "continent", r->continent);
	put_geo_text(b, "country", r->country);
	put_geo_text(b, "region", r->region);
	put_geo_text(b, "city", r->city);
	put_geo_text(b, "postal_code", r->postal_code);
	if (located) {
		member_float(b, "latitude", r->latitude);
		member_float(b, "longitude", r->longitude);
	} else {
		member_null(b, "latitude");
		member_null(b, "longitude");
	}
	put_geo_text(b, "time_zone", r->time_zone);
	if (r->asn)
		member_uint(b, "asn", r->asn);
	else
		member_null(b, "asn");
	put_geo_text(b, "as_org", r->as_org);
	buf_putc(b, '}');
}

/* `known`: there is an address. */
static void append_place(struct answerer *a, const uint8_t ip[16], bool known,
			 struct buf *out)
{
	const struct geo *geo = enricher_reference(a->enricher)->geo;
	struct geo_record record = {0};
	struct geo_place place = {0};
	const void *piece;
	size_t len;

	if (known)
		geo_find(geo, ip, &place);
	piece = cache_get(a->places, &place, sizeof(place), &len);
	if (piece) {
		buf_append(out, piece, len);
		return;
	}
	if (known)
		geo_read(geo, &place, &record);
	buf_reset(&a->piece);
	put_place(&a->piece, &record);
	if (!a->piece.failed)
		cache_put(a->places, &place, sizeof(place), a->piece.data,
			  a->piece.len);
	buf_append(out, a->piece.data, a->piece.len);
	out->failed |= a->piece.failed;
}

static void append_verdict(const struct click_facts *facts, struct buf *out)
{
	member_open(out, "verdict");
	member_word(out, "class", verdict_name(facts->verdict.kind));
	member_word(out, "reason", facts->verdict.reason);
	member_uint(out, "rules", facts->rules);
	buf_putc(out, '}');
}

/* The visitor is null if both address and user agent are missing: such visitors
 * cannot be distinguished. */
static void append_visitor(const Shortloop__Click *click,
			   const unsigned char identity[IDENTITY_LEN],
			   struct buf *out)
{
	char hex[2 * IDENTITY_LEN + 1];

	sodium_bin2hex(hex, sizeof(hex), identity, IDENTITY_LEN);
	if (click->client_ip.len || click->user_agent.len)
		member_text(out, "visitor", hex, sizeof(hex) - 1);
	else
		member_null(out, "visitor");
}

static void append_referrer(const struct click_facts *facts,
			    const Shortloop__Click *click, struct buf *out)
{
	struct referrer r;

	referrer_parse((const char *)click->referrer.data, click->referrer.len,
		       click->domain, facts->sources, &r);
	member_open(out, "referrer");
	member_word(out, "host", r.host);
	member_word(out, "site", site_lookup_find(facts->sites, &r));
	member_word(out, "channel", r.channel);
	buf_putc(out, '}');
}

/* A user agent is parsed up to the length that the collector stores. */
static size_t stored_agent_length(const struct answerer *a,
				  const Shortloop__Click *click)
{
	size_t max = (size_t)a->settings->max_text;

	return click->user_agent.len < max ? click->user_agent.len : max;
}

static void append_trace(struct answerer *a, const struct visit_question *q,
			 const struct click_facts *facts, struct buf *out)
{
	const struct trace_case c = {
		.click = &q->click,
		.ip = facts->has_ip ? facts->ip : NULL,
		.ua = &a->ua,
		.ua_len = stored_agent_length(a, &q->click),
		.verdict = facts->verdict,
		.rule = facts->rule,
	};

	if (a->trace)
		trace_append(a->trace, &c, out);
}

/* Appends the answer, without a newline.  Absent values are null. */
static int answer_append(struct answerer *a, struct visit_question *q,
			 struct buf *out, struct error *err)
{
	struct event_origin origin = {.topic = ""};
	const char *ua = (const char *)q->click.user_agent.data;
	struct click_facts facts;

	origin.append_ms = clock_real_ms();
	q->click.time_ms = (uint64_t)origin.append_ms;
	if (enricher_facts(a->enricher, &origin, &q->click, &facts, err) < 0)
		return -1;
	buf_putc(out, '{');
	if (append_agent(a, ua, stored_agent_length(a, &q->click), out, err) <
	    0)
		return -1;
	buf_putc(out, ',');
	append_place(a, facts.ip, facts.has_ip, out);
	append_verdict(&facts, out);
	append_visitor(&q->click, facts.identity, out);
	append_referrer(&facts, &q->click, out);
	member_word(out, "device_class", facts.agent.device_class);
	append_trace(a, q, &facts, out);
	if (q->bad_ip.code)
		member_word(out, "error", q->bad_ip.text);
	buf_putc(out, '}');
	return out->failed ? error_set_nomem(err) : 0;
}

/* Appends the answer to an unreadable line. */
static void answer_append_error(struct buf *out, const struct error *reason)
{
	buf_putc(out, '{');
	member_word(out, "error", reason->text);
	buf_putc(out, '}');
}

/* --- lines ---------------------------------------------------------------- */

enum {
	LINE_MAX_BYTES = 8 * 1024 * 1024,
	OUTPUT_BYTES = 256 * 1024, /* written when this size is reached */
};

struct session {
	struct app *app;
	struct answerer *answerer;
	struct line_reader *lines;
	struct buf out;
	uint64_t count;
	uint64_t bad;
	uint64_t first_bad;
	struct error first_reason;
	bool stopped;
};

static ssize_t read_input(void *arg, void *to, size_t len, struct error *err)
{
	struct session *s = arg;
	ssize_t n;

	if (!app_wait_input(s->app, STDIN_FILENO)) {
		s->stopped = true;
		return 0;
	}
	do
		n = read(STDIN_FILENO, to, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? error_set_errno(err, "standard input") : n;
}

static int write_output(struct session *s, struct error *err)
{
	const char *at = s->out.data;
	size_t left = s->out.len;

	while (left > 0) {
		ssize_t n = write(STDOUT_FILENO, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, "standard output");
		at += n;
		left -= (size_t)n;
	}
	buf_reset(&s->out);
	return 0;
}

static void note_bad(struct session *s, const struct error *reason)
{
	if (!s->bad++) {
		s->first_bad = s->count;
		s->first_reason = *reason;
	}
}

static int answer_question(struct session *s, struct visit_question *q,
			   struct error *err)
{
	if (q->bad_ip.code)
		note_bad(s, &q->bad_ip);
	return answer_append(s->answerer, q, &s->out, err);
}

static int answer_line(struct session *s, const struct line *line,
		       struct error *err)
{
	struct error reason = {0};
	struct visit_question q;
	int status = 0;

	s->count++;
	if (!line->len)
		error_set(&reason, ERROR_INPUT, "an empty line");
	else if (line->cut)
		error_set(&reason, ERROR_INPUT, "longer than %d bytes",
			  LINE_MAX_BYTES);
	else if (visit_question_read(&q, line->text, line->len, &reason) == 0)
		status = answer_question(s, &q, err);
	if (reason.code) {
		note_bad(s, &reason);
		answer_append_error(&s->out, &reason);
	} else {
		visit_question_release(&q);
	}
	buf_putc(&s->out, '\n');
	if (status == 0 && s->out.failed)
		status = error_set_nomem(err);
	if (status == 0 && s->out.len >= OUTPUT_BYTES)
		status = write_output(s, err);
	return status;
}

static int answer_lines(struct session *s, struct error *err)
{
	struct line line;

	while (line_reader_next(s->lines, &line))
		if (answer_line(s, &line, err) < 0)
			return -1;
	return write_output(s, err);
}

static int answer_all(struct session *s, struct error *err)
{
	int more;

	do {
		more = line_reader_fill(s->lines, err);
		/* A stop in the middle of a line: the part that was read is not
		 * answered. */
		if (more < 0 || s->stopped || answer_lines(s, err) < 0)
			break;
	} while (more > 0);
	if (err->code)
		return -1;
	if (!s->bad)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "%" PRIu64 " of %" PRIu64
			 " lines could not be read; the first is line "
			 "%" PRIu64 ": %s",
			 s->bad, s->count, s->first_bad, s->first_reason.text);
}

int collector_explain(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct session s = {.app = app};
	int status = -1;

	s.answerer = answerer_new(&config->collector,
				  app_option_value(app, "why") != NULL, err);
	if (s.answerer)
		s.lines = line_reader_new(LINE_MAX_BYTES, read_input, &s, err);
	if (s.lines)
		status = answer_all(&s, err);
	line_reader_free(s.lines);
	answerer_free(s.answerer);
	buf_free(&s.out);
	return status;
}
