#include "linkstore/domains_follower.h"

#include <stdlib.h>

#include "common/app/reloadable.h"
#include "linkstore/shared_domains.h"

struct domains_follower {
	struct domains_follower_options options;
	struct metric *revision;
	struct health_check *check;
	struct shared_domains_watch *watch; /* NULL: they are not shared */
};

/* `shared` "" and revision 0 stand for the domains of the configuration or of
 * its file. */
static int take_domains(void *arg, const char *shared, uint64_t revision,
			struct error *err)
{
	struct domains_follower *f = arg;
	const struct reload_report to = {.log = f->options.log};
	struct log_field of_revision = log_int("revision", (int64_t)revision);
	size_t count = 0;

	if (f->options.take(f->options.arg, shared, &count, err) < 0) {
		reload_report_rejected(
			&to, "domains",
			(struct log_field[RELOAD_FIELDS]){of_revision}, err);
		return -1;
	}
	metric_set(f->revision, (int64_t)revision);
	reload_report_done(
		&to, "domains",
		(struct log_field[RELOAD_FIELDS]){
			log_int("domains", (int64_t)count), of_revision});
	return 0;
}

static void on_domains_looked(void *arg, const struct error *err)
{
	struct domains_follower *f = arg;

	if (!err) {
		health_up(f->check);
		return;
	}
	health_say(f->check, err->text);
	log_warn(f->options.log, "shared domains not taken", log_err(err));
}

static int open_watch(struct domains_follower *f, struct error *err)
{
	const struct shared_domains_options options = {
		.redis = f->options.redis,
		.take = take_domains,
		.looked = on_domains_looked,
		.arg = f,
	};

	f->check = health_register(f->options.health, "domains");
	f->watch = shared_domains_watch_new(&options, err);
	return f->watch ? 0 : -1;
}

struct domains_follower *
domains_follower_new(const struct domains_follower_options *options,
		     struct error *err)
{
	struct domains_follower *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->options = *options;
	f->revision = metrics_gauge(
		options->metrics, "shortloop_domains_revision", NULL,
		"Revision of the shared domains that are in use");
	if (!options->domains->shared || open_watch(f, err) == 0)
		return f;
	domains_follower_free(f);
	return NULL;
}

void domains_follower_free(struct domains_follower *f)
{
	if (!f)
		return;
	shared_domains_watch_free(f->watch);
	free(f);
}

int domains_follower_start(struct domains_follower *f, struct error *err)
{
	return f->watch ? shared_domains_watch_start(f->watch, err) : 0;
}

void domains_follower_reload(struct domains_follower *f)
{
	const struct domains_follower_options *o = &f->options;
	struct error reported;

	if (f->watch)
		shared_domains_watch_again(f->watch);
	else if (o->domains->file || o->has_files)
		(void)take_domains(f, "", 0, &reported);
}

bool domains_follower_is_ready(const struct domains_follower *f)
{
	return !f || !f->watch || health_is_up(f->check);
}
