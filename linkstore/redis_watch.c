#include "linkstore/redis_watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/periodic.h"

/* Limit for each step of a poll, so that the thread can be ended. */
#define STEP_MAX_MS 2000

struct redis_watch {
	struct redis_watch_options options;
	struct redis_config config;
	struct redis *redis;
	struct periodic *thread;
	/* Used by the thread only: */
	bool has_looked;
	char told[sizeof(((struct error *)0)->text)]; /* reported error or "" */
};

static void report_poll_result(struct redis_watch *w, const struct error *err)
{
	const char *text = err ? err->text : "";

	if (w->has_looked && !strcmp(w->told, text))
		return;
	w->has_looked = true;
	snprintf(w->told, sizeof(w->told), "%s", text);
	w->options.looked(w->options.arg, err);
}

static int64_t poll_redis(struct periodic *self, void *arg)
{
	struct redis_watch *w = arg;
	struct error err;

	(void)self;
	report_poll_result(w, w->options.poll(w->options.arg, w->redis, &err)
				      ? &err
				      : NULL);
	return w->options.every_ms;
}

struct redis_watch *redis_watch_new(const struct redis_watch_options *options,
				    struct error *err)
{
	struct redis_watch *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->options = *options;
	w->config = redis_config_within(options->redis, STEP_MAX_MS);
	w->redis = redis_new(&w->config, options->scripts, err);
	w->thread = w->redis ? periodic_new(poll_redis, w, err) : NULL;
	if (w->thread)
		return w;
	redis_watch_free(w);
	return NULL;
}

int redis_watch_start(struct redis_watch *w, struct error *err)
{
	return periodic_start(w->thread, err);
}

void redis_watch_wake(struct redis_watch *w)
{
	periodic_wake(w->thread);
}

void redis_watch_free(struct redis_watch *w)
{
	if (!w)
		return;
	periodic_free(w->thread);
	redis_free(w->redis);
	free(w);
}
