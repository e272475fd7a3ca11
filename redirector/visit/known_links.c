#include "redirector/visit/known_links.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct cache_gauges {
	struct metric *entries, *bytes, *evictions;
	uint64_t evictions_reported;
};

struct known_links {
	struct loop *loop;
	struct link_cache *cache;
	struct freshness_reader *changes;
	freshness_fn *on_changed;
	void *arg;
	struct cache_gauges gauges;
};

static void on_changed(void *arg, struct http_slice code)
{
	struct known_links *k = arg;

	link_cache_remove(k->cache, code);
	k->on_changed(k->arg, code);
}

struct cached_link *known_links_find(struct known_links *k,
				     struct http_slice code)
{
	struct cached_link *link;

	freshness_sync(k->changes);
	link = link_cache_get(k->cache, code, loop_now_ms(k->loop));
	return link && !freshness_is_void(k->changes, &link->asked) ? link
								    : NULL;
}

void known_links_put(struct known_links *k, struct http_slice code,
		     const struct cached_link *link)
{
	link_cache_put(k->cache, code, link);
}

bool known_links_is_fresh(const struct known_links *k,
			  const struct cached_link *link)
{
	int64_t now = loop_now_ms(k->loop);

	return now < link->fresh_until &&
	       freshness_is_fresh(k->changes, &link->asked, now);
}

bool known_links_may_stand_in(const struct known_links *k,
			      const struct cached_link *link)
{
	return link && !link->max_visits &&
	       loop_now_ms(k->loop) < link->stale_until;
}

struct freshness_mark known_links_mark(const struct known_links *k)
{
	return freshness_mark(k->changes, loop_now_ms(k->loop));
}

bool known_links_changed_since(struct known_links *k, struct http_slice code,
			       const struct freshness_mark *mark)
{
	freshness_sync(k->changes);
	return freshness_changed_since(k->changes, code, mark);
}

void known_links_distrust(struct known_links *k)
{
	freshness_distrust(k->changes, loop_now_ms(k->loop));
}

struct freshness_reader *known_links_changes(struct known_links *k)
{
	return k->changes;
}

/* --- metrics -------------------------------------------------------------- */

void known_links_report(struct known_links *k)
{
	struct cache_gauges *g = &k->gauges;
	struct link_cache_stats stats = link_cache_stats(k->cache);

	metric_set(g->entries, (int64_t)stats.entries);
	metric_set(g->bytes, (int64_t)stats.bytes);
	if (stats.evictions != g->evictions_reported) {
		metric_add(g->evictions,
			   stats.evictions - g->evictions_reported);
		g->evictions_reported = stats.evictions;
	}
}

static void register_gauges(struct cache_gauges *g, struct metrics *m,
			    unsigned thread, size_t cache_bytes)
{
	char labels[32];

	snprintf(labels, sizeof(labels), "thread=\"%u\"", thread);
	g->entries = metrics_gauge(m, "shortloop_redirector_cache_entries",
				   labels, "Codes in the cache");
	g->bytes = metrics_gauge(m, "shortloop_redirector_cache_bytes", labels,
				 "Memory of the cache");
	g->evictions = metrics_counter(
		m, "shortloop_redirector_cache_evictions_total", labels,
		"Codes put out of the cache for want of room");
	metric_set(metrics_gauge(m, "shortloop_redirector_cache_bytes_max",
				 labels, "Bound of the cache's memory"),
		   (int64_t)cache_bytes);
}

/* --- making --------------------------------------------------------------- */

struct known_links *known_links_new(const struct server_context *server,
				    freshness_fn *fn, void *arg,
				    struct error *err)
{
	const struct redirector *r = server->redirector;
	size_t cache_bytes =
		(size_t)r->config->redirector.cache_size / r->threads;
	struct known_links *k = calloc(1, sizeof(*k));

	if (!k) {
		error_set_nomem(err);
		return NULL;
	}
	k->loop = server->loop;
	k->on_changed = fn;
	k->arg = arg;
	k->cache = link_cache_new(cache_bytes, err);
	if (k->cache)
		k->changes = freshness_reader_new(r->freshness, k->loop,
						  on_changed, k, err);
	if (!k->changes) {
		known_links_free(k);
		return NULL;
	}
	register_gauges(&k->gauges, r->registry, server->number, cache_bytes);
	return k;
}

void known_links_free(struct known_links *k)
{
	if (!k)
		return;
	freshness_reader_free(k->changes);
	link_cache_free(k->cache);
	free(k);
}
