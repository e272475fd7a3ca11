#include "linkstore/denied_hosts_follower.h"

#include <stdlib.h>

#include "common/clock.h"
#include "linkstore/denied_set.h"
#include "linkstore/redis_watch.h"

#define LOOK_MS 10 /* between two checks for the first poll */

struct denied_hosts_follower {
	struct denied_hosts_follower_options options;
	struct metric *count, *revision;
	struct health_check *check;
	/* Used by the thread only: */
	struct denied_set *set;
	uint64_t published; /* revision of the newest version */
	struct versions *versions;
	struct redis_watch *watch;
};

/* --- versions ------------------------------------------------------------- */

static void free_version(void *value)
{
	struct denied_hosts *hosts = value;

	domain_list_free(hosts->list);
	free(hosts);
}

static struct denied_hosts *version_of(const struct denied_set *set,
				       struct error *err)
{
	struct denied_hosts *hosts = calloc(1, sizeof(*hosts));

	if (!hosts) {
		error_set_nomem(err);
		return NULL;
	}
	hosts->revision = denied_set_revision(set);
	hosts->list = denied_set_list(set, err);
	if (hosts->list)
		return hosts;
	free(hosts);
	return NULL;
}

static int publish_set(struct denied_hosts_follower *f, struct error *err)
{
	struct denied_hosts *hosts = version_of(f->set, err);
	int64_t count = (int64_t)denied_set_count(f->set),
		revision = (int64_t)denied_set_revision(f->set);

	if (!hosts || versions_replace(f->versions, hosts, err) < 0)
		return -1;
	f->published = denied_set_revision(f->set);
	metric_set(f->count, count);
	metric_set(f->revision, revision);
	log_info(f->options.log, "denied hosts changed",
		 log_int("hosts", count), log_int("revision", revision));
	return 0;
}

/* --- polls ---------------------------------------------------------------- */

static int poll_denied_hosts(void *arg, struct redis *redis, struct error *err)
{
	struct denied_hosts_follower *f = arg;
	struct error why;
	int status = denied_set_update(f->set, redis, f->options.store, err);

	if (denied_set_revision(f->set) != f->published &&
	    publish_set(f, &why) < 0) {
		*err = why;
		return -1;
	}
	return status < 0 ? -1 : denied_set_compare(f->set, err);
}

static void on_looked(void *arg, const struct error *err)
{
	struct denied_hosts_follower *f = arg;

	if (!err) {
		health_up(f->check);
		return;
	}
	health_say(f->check, err->text);
	log_warn(f->options.log, "denied hosts not current", log_err(err));
}

/* --- making --------------------------------------------------------------- */

static int open_watch(struct denied_hosts_follower *f, struct error *err)
{
	const struct redis_watch_options options = {
		.redis = f->options.redis,
		.scripts = linkstore_scripts(f->options.store),
		.every_ms = DENIED_POLL_MS,
		.poll = poll_denied_hosts,
		.looked = on_looked,
		.arg = f,
	};

	f->watch = redis_watch_new(&options, err);
	return f->watch ? 0 : -1;
}

static int open_versions(struct denied_hosts_follower *f, struct error *err)
{
	struct denied_hosts *first;

	f->set = denied_set_new(err);
	first = f->set ? version_of(f->set, err) : NULL;
	if (first)
		f->versions = versions_new(first, free_version, err);
	return f->versions ? 0 : -1;
}

static void register_reports(struct denied_hosts_follower *f)
{
	struct metrics *m = f->options.metrics;

	f->check = health_register(f->options.health, "denied hosts");
	f->count = metrics_gauge(m, "shortloop_denied_hosts", NULL,
				 "Hosts to which no link may lead");
	f->revision = metrics_gauge(m, "shortloop_denied_hosts_revision", NULL,
				    "Revision of the denied hosts in force");
}

struct denied_hosts_follower *
denied_hosts_follower_new(const struct denied_hosts_follower_options *options,
			  struct error *err)
{
	struct denied_hosts_follower *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->options = *options;
	register_reports(f);
	if (open_versions(f, err) == 0 && open_watch(f, err) == 0)
		return f;
	denied_hosts_follower_free(f);
	return NULL;
}

void denied_hosts_follower_free(struct denied_hosts_follower *f)
{
	if (!f)
		return;
	redis_watch_free(f->watch);
	versions_free(f->versions);
	denied_set_free(f->set);
	free(f);
}

int denied_hosts_follower_start(struct denied_hosts_follower *f,
				struct error *err)
{
	return redis_watch_start(f->watch, err);
}

bool denied_hosts_follower_is_ready(const struct denied_hosts_follower *f)
{
	return health_is_up(f->check);
}

bool denied_hosts_follower_await(const struct denied_hosts_follower *f,
				 struct app *app)
{
	int64_t until = clock_monotonic_ms() + DENIED_AWAIT_MS;
	bool ends = false;

	while (!ends && !denied_hosts_follower_is_ready(f) &&
	       clock_monotonic_ms() < until)
		ends = app_should_stop(app, LOOK_MS);
	return ends;
}

struct versions *denied_hosts_follower_versions(struct denied_hosts_follower *f)
{
	return f->versions;
}
