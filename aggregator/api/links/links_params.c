#include "aggregator/api/links/links_params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clickhouse/host_filter.h"
#include "common/uri.h"
#include "common/url_digest.h"

/* Appends the pattern by which LIKE finds these very characters. */
static void put_like(struct buf *out, const char *text)
{
	buf_putc(out, '%');
	for (; *text; text++) {
		if (strchr("%_\\", *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
	buf_putc(out, '%');
}

bool links_differs_as_uri(const char *text)
{
	struct buf uri = {0};
	bool differs;

	uri_put_part(&uri, text, strlen(text));
	differs = uri.len != strlen(text);
	buf_free(&uri);
	return differs;
}

static void escape_like(struct buf *out, const char *text)
{
	struct buf pattern = {0};

	put_like(&pattern, text);
	clickhouse_escape(out, pattern.data, pattern.len);
	out->failed |= pattern.failed;
	buf_free(&pattern);
}

static const char *const text_params[LINKS_FILTER_COUNT] = {
	[LINKS_TEXT] = "param_q",
	[LINKS_TAG] = "param_tag",
	[LINKS_ACCOUNT] = "param_account",
	[LINKS_OWNER] = "param_owner",
	[LINKS_CAMPAIGN] = "param_campaign",
	[LINKS_DOMAIN] = "param_domain",
	[LINKS_STATE] = "param_state",
	[LINKS_URL] = "param_url",
	[LINKS_HOST] = "param_url_host",
	[LINKS_CODE] = "param_code",
};

static int fill_bounds(struct links_params *p,
		       const struct access_bounds *bounds, size_t *n,
		       struct error *err)
{
	if (caller_params_fill(&p->caller, bounds, err) < 0)
		return -1;
	for (size_t i = 0; i < CALLER_PARAMS; i++)
		p->items[(*n)++] = p->caller.items[i];
	return 0;
}

static int fill_life(struct links_params *p, const struct links_query *q,
		     size_t *n, struct error *err)
{
	if (life_params_fill(&p->life, q->spaces, q->now, err) < 0)
		return -1;
	for (size_t i = 0; i < LIFE_PARAMS; i++)
		p->items[(*n)++] = p->life.items[i];
	return 0;
}

/* Fills in the texts that are searched in URLs, in the stored form. */
static int fill_uris(struct links_params *p, const struct links_query *q,
		     size_t *n, struct error *err)
{
	const char *words = q->filters[LINKS_TEXT],
		   *url = q->filters[LINKS_URL];
	struct buf uri = {0};

	if (words && links_differs_as_uri(words)) {
		uri_put_part(&uri, words, strlen(words));
		if (buf_cstr(&uri))
			escape_like(&p->words_uri, uri.data);
		p->items[(*n)++] = (struct clickhouse_param){"param_q_uri",
							     p->words_uri.data};
	}
	buf_reset(&uri);
	if (url && !url_digest_is(url, strlen(url))) {
		url_put_stored(&uri, url, strlen(url));
		clickhouse_escape(&p->url_uri, uri.data, uri.len);
		p->items[(*n)++] = (struct clickhouse_param){"param_url_uri",
							     p->url_uri.data};
	}
	p->url_uri.failed |= uri.failed || p->words_uri.failed;
	buf_free(&uri);
	return p->url_uri.failed ? error_set_nomem(err) : 0;
}

static int fill_host_names(struct links_params *p, const struct links_query *q,
			   size_t *n, struct error *err)
{
	const char *host = q->filters[LINKS_HOST];

	if (!host)
		return 0;
	host_filter_put_names(&p->host_names, host);
	if (!buf_cstr(&p->host_names))
		return error_set_nomem(err);
	p->items[(*n)++] = (struct clickhouse_param){"param_url_host_domains",
						     p->host_names.data};
	return 0;
}

static int fill_texts(struct links_params *p, const struct links_query *q,
		      size_t *n, struct error *err)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		const char *value = q->filters[i];
		struct buf *text = &p->texts[i];

		if (!value)
			continue;
		if (i == LINKS_TEXT)
			escape_like(text, value);
		else
			clickhouse_escape(text, value, strlen(value));
		if (text->failed)
			return error_set_nomem(err);
		p->items[(*n)++] =
			(struct clickhouse_param){text_params[i], text->data};
	}
	if (fill_uris(p, q, n, err) < 0 || fill_host_names(p, q, n, err) < 0 ||
	    fill_life(p, q, n, err) < 0)
		return -1;
	return fill_bounds(p, q->bounds, n, err);
}

int links_params_fill(struct links_params *p, const struct links_query *q,
		      const struct links_scan *scan, struct error *err)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"param_number", scan->after.number},
		{"param_after_id", scan->after.link_id},
		{"param_window", scan->window_ms},
		{"param_candidates", scan->candidates},
		{"param_until", scan->after.until_day},
		{"param_since", q->range.since_day},
		{"param_head_from", q->range.head_from},
		{"param_head_to", q->range.head_to},
		{"param_tail_from", q->range.tail_from},
		{"param_tail_to", q->range.tail_to},
		{"param_created_from",
		 q->created_from > 0 ? (uint64_t)q->created_from : 0},
		{"param_created_to",
		 q->created_to > 0 ? (uint64_t)q->created_to : 0},
	};
	static const struct clickhouse_param settings[] = {
		/* One question is limited to this memory, because the server
		 * has other clients. */
		{"max_memory_usage", LINKS_SQL_MEMORY},
		/* ClickHouse evaluates each projection that could serve, at 5
		 * ms each. */
		{"preferred_optimize_projection_name", "by_creation"},
	};
	size_t n = 0;

	*p = (struct links_params){0};
	for (; n < sizeof(numbers) / sizeof(*numbers); n++) {
		snprintf(p->numbers[n], sizeof(p->numbers[n]), "%" PRIu64,
			 numbers[n].value);
		p->items[n] = (struct clickhouse_param){numbers[n].name,
							p->numbers[n]};
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		p->items[n++] = settings[i];
	return fill_texts(p, q, &n, err);
}

void links_params_release(struct links_params *p)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++)
		buf_free(&p->texts[i]);
	buf_free(&p->words_uri);
	buf_free(&p->url_uri);
	buf_free(&p->host_names);
	caller_params_release(&p->caller);
	life_params_release(&p->life);
}
