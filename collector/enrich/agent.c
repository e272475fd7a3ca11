#include "collector/enrich/agent.h"

#include <stdlib.h>
#include <string.h>

#include "collector/enrich/device_class.h"
#include "common/clickhouse/rowbinary.h"

struct agent_lookup {
	const struct bots *bots;
	struct ua_parser *parser;
	struct pattern_matcher *bot_matcher;
	struct cache *cache;
	struct ua_result result;
	struct buf value; /* a struct head, then the columns */
};

/* The part of a cached value before its columns. */
struct head {
	struct verdict verdict;
	const char *device_class;
};

struct agent_lookup *agent_lookup_new(const struct reference *ref,
				      size_t cache_bytes, struct error *err)
{
	struct agent_lookup *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	l->bots = ref->bots;
	l->parser = ua_parser_new(ref->ua, err);
	l->bot_matcher = pattern_matcher_new(bots_patterns(ref->bots), err);
	l->cache = cache_new(cache_bytes, err);
	if (l->parser && l->bot_matcher && l->cache)
		return l;
	agent_lookup_free(l);
	return NULL;
}

void agent_lookup_free(struct agent_lookup *l)
{
	if (!l)
		return;
	ua_parser_free(l->parser);
	pattern_matcher_free(l->bot_matcher);
	cache_free(l->cache);
	ua_result_free(&l->result);
	buf_free(&l->value);
	free(l);
}

static void put_field(struct agent_lookup *l, enum ua_field field)
{
	struct ua_text t = ua_get(&l->result, field);

	rowbinary_string(&l->value, t.data, t.len);
}

/* Appends the fields from first to last as "17.4.1", up to the first empty
 * one. */
static void put_version(struct agent_lookup *l, enum ua_field first,
			enum ua_field last)
{
	char version[128];
	size_t len = 0;

	for (enum ua_field f = first; f <= last; f++) {
		struct ua_text t = ua_get(&l->result, f);

		if (!t.len || len + t.len + 1 > sizeof(version))
			break;
		if (len)
			version[len++] = '.';
		memcpy(version + len, t.data, t.len);
		len += t.len;
	}
	rowbinary_string(&l->value, version, len);
}

static void put_text(struct agent_lookup *l, const char *text)
{
	rowbinary_string(&l->value, text, strlen(text));
}

static void put_columns(struct agent_lookup *l, const struct head *head)
{
#define AGENT(name, type, left, write) write;
#include "schemas/click_columns.inc"
}

static struct verdict find_verdict(struct agent_lookup *l, const char *text,
				   size_t len)
{
	struct bot bot;

	if (!len)
		return verdict_no_user_agent;
	if (bots_find(l->bots, l->bot_matcher, text, len,
		      device_is_held(&l->result), &bot))
		return verdict_of_bot(&bot);
	/* uap-core's rule for spiders also matches a word within a longer name,
	 * such as "Bank of New Zealand", which a toolbar adds to a browser's
	 * agent. */
	if (ua_is(&l->result, UA_DEVICE_FAMILY, "Spider") &&
	    !bots_is_browser(l->bots, l->bot_matcher))
		return verdict_spider;
	return verdict_human;
}

static int build_value(struct agent_lookup *l, const char *text, size_t len,
		       struct error *err)
{
	struct head head;

	if (device_parse(l->parser, text, len, &l->result, err) < 0)
		return -1;
	head.verdict = find_verdict(l, text, len);
	head.device_class = device_class(&l->result, text, len);
	if (head.verdict.kind != VERDICT_HUMAN && len)
		head.device_class = "robot";
	buf_reset(&l->value);
	buf_append(&l->value, &head, sizeof(head));
	put_columns(l, &head);
	return l->value.failed ? error_set_nomem(err) : 0;
}

int agent_find(struct agent_lookup *l, const char *text, size_t len,
	       struct agent *ret_agent, struct error *err)
{
	struct head head;
	size_t value_len;
	const char *value = cache_get(l->cache, text, len, &value_len);

	if (!value) {
		if (build_value(l, text, len, err) < 0)
			return -1;
		cache_put(l->cache, text, len, l->value.data, l->value.len);
		value = l->value.data;
		value_len = l->value.len;
	}
	memcpy(&head, value, sizeof(head));
	*ret_agent = (struct agent){
		.verdict = head.verdict,
		.device_class = head.device_class,
		.columns = value + sizeof(head),
		.columns_len = value_len - sizeof(head),
	};
	return 0;
}

struct cache_stats agent_stats(const struct agent_lookup *l)
{
	return cache_stats(l->cache);
}
