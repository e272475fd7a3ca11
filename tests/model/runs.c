#include "tests/model/runs.h"

#include <inttypes.h>
#include <sys/eventfd.h>

#include "common/clock.h"

void runs_init(struct runs *r, struct world *w)
{
	memset(r, 0, sizeof(*r));
	r->world = w;
}

static bool on_pause(void *arg, const struct tally *tally, uint64_t total,
		     int timeout_ms)
{
	(void)arg;
	(void)tally;
	(void)total;
	usleep((useconds_t)timeout_ms * 1000);
	return false;
}

static void *execute_run(void *arg)
{
	struct one_run *one = arg;
	uint64_t done = 1;

	one->status =
		space_run(&one->run, &one->tally, &one->interrupted, &one->err);
	if (write(one->done_fd, &done, sizeof(done)) != sizeof(done))
		abort();
	return NULL;
}

static struct reclaimer_settings some_settings(struct rng *rng)
{
	static const int64_t max_lost[] = {1 << 30, 1 << 30, 1 << 30, 1 << 30,
					   1 << 30, 0,	     3};

	return (struct reclaimer_settings){
		.lock_ttl = 40 + rng_below(rng, 100),
		.chunk = 1 + (rng_chance(rng, 50) ? rng_below(rng, 8)
						  : rng_below(rng, 256)),
		.max_lost = max_lost[rng_below(rng, 7)],
		/* The sampling would hide errors that the other guards let
		 * through. */
		.sample_every = INT64_C(1) << 40,
	};
}

static void start_run(struct runs *r, struct one_run *one, size_t space)
{
	struct world *w = r->world;
	char path[80];

	memset(one, 0, sizeof(*one));
	one->active = true;
	one->done_fd = eventfd(0, EFD_CLOEXEC);
	snprintf(path, sizeof(path), "%s/run%d", w->server.dir,
		 (int)(one - r->all));
	snprintf(one->address, sizeof(one->address), "unix:%s", path);
	one->stepper = stepper_new(path, w->server.address + 5, one->done_fd);
	one->redis_config = (struct redis_config){
		.address = one->address,
		.connect_timeout = 5000,
		.command_timeout = 60000,
	};
	one->settings = some_settings(&w->rng);
	one->run = (struct space_run){
		.settings = &one->settings,
		.clock = &one->clock,
		.redis = redis_new(&one->redis_config,
				   linkstore_scripts(w->runs_store), &w->err),
		.space = linkstore_space(w->runs_store, space),
		.max_blocks = rng_chance(&w->rng, 20)
				      ? 1 + rng_below(&w->rng, 20)
				      : 0,
		.pause = on_pause,
	};
	assert_non_null(one->run.redis);
	assert_int_equal(pthread_create(&one->thread, NULL, execute_run, one),
			 0);
	r->begun++;
	world_say(w, "run %d over %s begins", (int)(one - r->all),
		  one->run.space->name);
}

/* --- results -------------------------------------------------------------- */

static void judge_failure(struct runs *r, const struct one_run *one)
{
	uint64_t block;

	if (one->err.code == ERROR_BUSY || one->err.code == ERROR_NOT_OWNER) {
		r->busy++;
		return;
	}
	if (one->disturbed && one->err.code == ERROR_REMOTE)
		return;
	if (one->err.code == ERROR_UNSAFE &&
	    one->tally.lost > (uint64_t)one->settings.max_lost) {
		r->refused++;
		return;
	}
	if (sscanf(one->err.text, "block %" SCNu64, &block) == 1)
		world_broken(r->world, "%s:%" PRIu64 " run: %s",
			     one->run.space->name, block, one->err.text);
	world_broken(r->world, "%s run: %s", one->run.space->name,
		     one->err.text);
}

static void evaluate_result(struct runs *r, const struct one_run *one)
{
	const struct tally *t = &one->tally;

	if (one->status < 0)
		judge_failure(r, one);
	else
		r->whole++;
	r->total.scanned += t->scanned;
	r->total.freed += t->freed;
	r->total.live += t->live;
	r->total.lost += t->lost;
	r->total.gap += t->gap;
	r->total.skipped += t->skipped;
	if (t->scanned != t->freed + t->live + t->lost + t->gap + t->skipped)
		world_broken(r->world,
			     "%s run: %" PRIu64 " scanned is not the sum",
			     one->run.space->name, t->scanned);
}

static void join_run(struct one_run *one)
{
	pthread_join(one->thread, NULL);
	redis_free(one->run.redis);
	stepper_free(one->stepper);
	close(one->done_fd);
	one->active = false;
}

static void end_run(struct runs *r, struct one_run *one)
{
	join_run(one);
	world_say(r->world,
		  "run %d over %s ends: %s (scanned %" PRIu64 " freed %" PRIu64
		  ")",
		  (int)(one - r->all), one->run.space->name,
		  one->status < 0 ? one->err.text : "done", one->tally.scanned,
		  one->tally.freed);
	evaluate_result(r, one);
}

void runs_free(struct runs *r)
{
	for (int i = 0; i < RUNS_MAX; i++) {
		if (!r->all[i].active)
			continue;
		stepper_cut(r->all[i].stepper, false);
		join_run(&r->all[i]);
	}
}

/* -------------------------------------------------------------------------- */

void runs_begin(struct runs *r, size_t space)
{
	struct one_run *one = &r->all[rng_below(&r->world->rng, RUNS_MAX)];

	if (!one->active)
		start_run(r, one, space);
}

static void kill_run(struct runs *r, struct one_run *one)
{
	bool reach = rng_chance(&r->world->rng, 50);

	world_say(r->world, "run %d is killed, its command %s Redis",
		  (int)(one - r->all), reach ? "reaches" : "does not reach");
	one->disturbed = true;
	stepper_cut(one->stepper, reach);
	r->cut++;
	end_run(r, one);
}

void runs_go_on(struct runs *r)
{
	struct rng *rng = &r->world->rng;
	struct one_run *one = &r->all[rng_below(rng, RUNS_MAX)];
	unsigned commands = 1 + rng_below(rng, rng_chance(rng, 80) ? 4 : 100);

	if (!one->active)
		return;
	while (commands--) {
		r->commands++;
		if (!stepper_step(one->stepper)) {
			end_run(r, one);
			return;
		}
	}
	if (rng_chance(rng, 2))
		kill_run(r, one);
}

void runs_finish(struct runs *r)
{
	for (int i = 0; i < RUNS_MAX; i++) {
		struct one_run *one = &r->all[i];

		while (one->active)
			if (!stepper_step(one->stepper))
				end_run(r, one);
	}
}

void runs_disturb(struct runs *r)
{
	for (int i = 0; i < RUNS_MAX; i++)
		r->all[i].disturbed = true;
}

void runs_whole(struct runs *r, size_t space)
{
	struct one_run *one = &r->all[0];

	runs_finish(r);
	start_run(r, one, space);
	one->settings.max_lost = INT64_MAX;
	one->run.max_blocks = 0;
	runs_finish(r);
}
