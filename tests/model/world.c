#include "tests/model/world.h"

#include <inttypes.h>
#include <stdarg.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/space/space_record.h"

#define HISTORY 4096 /* lines kept */
#define SHOWN	60   /* lines shown */

/* These lives end within a test, except for the last. */
static const char *const classes[WORLD_CLASSES] = {"60ms", "150ms", "400ms",
						   "never"};

static void configure_world(struct world *w)
{
	static const struct {
		const char *name;
		int64_t length, block_size;
	} spaces[WORLD_SPACES] = {{"s4", 4, 100}, {"s5", 5, 5}, {"s7", 7, 3}};
	/* Half of the histories have links that never end. */
	size_t class_count = WORLD_CLASSES - rng_below(&w->rng, 2);

	for (size_t i = 0; i < WORLD_CLASSES; i++)
		w->classes[i] = drop_const(classes[i]);
	w->keys[0].key = drop_const("a secret of sixteen bytes or more");
	w->keys[1].version = 1;
	w->keys[1].key = drop_const("another secret, for the version 1");
	for (size_t i = 0; i < WORLD_SPACES; i++)
		w->space_configs[i] = (struct links_space_config){
			.name = drop_const(spaces[i].name),
			.number = (int64_t)i + 1,
			.length = spaces[i].length,
			.strategy = drop_const("sequence"),
			.block_size = spaces[i].block_size,
			.keys = {w->keys, 1 + i % 2},
		};
	w->config = (struct links_config){
		.ttl_classes = {w->classes, class_count},
		.hold_max = 80,
		.quarantine = 120,
		.renew_every = 20,
		.grant_blocks = 1,
		.safety_gap = 20,
		.spaces = {w->space_configs, WORLD_SPACES},
	};
}

void world_open(struct world *w, uint64_t seed,
		void (*change)(struct linkstore *store, void *arg), void *arg)
{
	enum space_created created;

	memset(w, 0, sizeof(*w));
	w->seed = w->rng.state = seed;
	w->history = calloc(HISTORY, sizeof(*w->history));
	assert_non_null(w->history);
	redis_server_start(&w->server);
	configure_world(w);
	w->store = linkstore_new(&w->config, &w->err);
	if (!w->store)
		fail_msg("%s", w->err.text);
	w->runs_store = linkstore_new(&w->config, &w->err);
	if (!w->runs_store)
		fail_msg("%s", w->err.text);
	if (change) {
		change(w->store, arg);
		change(w->runs_store, arg);
	}
	redis_server_use_scripts(&w->server, linkstore_scripts(w->store));
	w->redis = w->server.redis;
	w->await = await_new(&w->server.config, linkstore_scripts(w->store));
	assert_non_null(w->await);
	for (size_t i = 0; i < WORLD_SPACES; i++) {
		const struct link_space *space = world_space(w, i);

		/* The middle space soon has only its pool left. */
		w->base[i] = i == 1 ? space->blocks - 300 : 0;
		if (space_create(w->redis, space, w->base[i], &created,
				 &w->err))
			fail_msg("%s", w->err.text);
	}
}

void world_close(struct world *w)
{
	await_free(w->await);
	linkstore_free(w->store);
	linkstore_free(w->runs_store);
	redis_server_stop(&w->server);
	free(w->history);
}

const struct link_space *world_space(const struct world *w, size_t i)
{
	return linkstore_space(w->store, i);
}

const struct link_class *world_class(const struct world *w, size_t i)
{
	return linkstore_class(w->store, i);
}

void world_say(struct world *w, const char *fmt, ...)
{
	char *line = w->history[w->said++ % HISTORY];
	va_list args;
	int len = snprintf(line, 24, "%" PRId64 " ", clock_real_ms() % 1000000);

	va_start(args, fmt);
	vsnprintf(line + len, sizeof(*w->history) - (size_t)len, fmt, args);
	va_end(args);
}

/* Shows the lines with the tag, such as "s5:17", that `what` begins with. */
static void print_history(const struct world *w, const char *what)
{
	size_t first = w->said > HISTORY ? w->said - HISTORY : 0;
	char tag[48];

	snprintf(tag, sizeof(tag), "%.*s", (int)strcspn(what, " "), what);
	fprintf(stderr, "--- of %s\n", tag);
	for (size_t i = first; i < w->said; i++)
		if (strstr(w->history[i % HISTORY], tag) ||
		    strstr(w->history[i % HISTORY], "Redis"))
			fprintf(stderr, "%s\n", w->history[i % HISTORY]);
	fprintf(stderr, "--- last of all\n");
	first = w->said > SHOWN ? w->said - SHOWN : 0;
	for (size_t i = first; i < w->said; i++)
		fprintf(stderr, "%s\n", w->history[i % HISTORY]);
}

void world_broken(struct world *w, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	print_history(w, text);
	fail_msg("step %" PRIu64 ": %s\nagain with: --seed %" PRIu64, w->steps,
		 text, w->seed);
	abort();
}
