#include "aggregator/api/links/redis_links.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/serving_thread.h"
#include "linkstore/link/code_facts.h"
#include "linkstore/space/missing_keys.h"
#include "linkstore/space/space_monitor.h"

/* The time between two readings of the spaces' records while all is well: it
 * lies between the defaults of redirectors and of allocators. */
#define CHECK_EVERY_MS 5000

struct redis_links {
	struct redis_links_options options;
	struct linkstore *store;
	struct loop *loop;
	struct redis_async *redis;
	struct space_monitor *spaces;
	struct metric **keys_missing; /* one per space */
	struct health_check *health;
	struct serving_thread thread; /* without a listener */
	bool up;		      /* used by the loop alone */
	/* For all look-ups: there are as many as workers. */
	pthread_mutex_t lock;
	pthread_cond_t answered;
};

/* A look-up, on the stack of the thread that waits for it. */
struct link_fetch {
	struct redis_links *links;
	struct link_target target;
	uint64_t link_id; /* 0: any link that has the code */
	redis_links_fn *fn;
	void *arg;
	bool found;
	struct error err; /* code ERROR_NONE: Redis answered */
	bool done;	  /* protected by the lock */
};

/* The readings of several links, on the stack of the thread that waits. */
struct lives_reading {
	struct redis_links *links;
	struct redis_link_life *items;
	size_t count;
	size_t left;	  /* used by the loop alone */
	struct error err; /* of one of them; code ERROR_NONE: none failed */
	bool done;	  /* protected by the lock */
};

struct life_reading {
	struct lives_reading *all;
	struct redis_link_life *item;
};

/* --- on the loop ------------------------------------------------------------
 */

/* Ends a wait of wait_for_loop.  What is waited for may be gone when this
 * returns: it is on the waiting thread's stack. */
static void report_done(struct redis_links *l, bool *done)
{
	pthread_mutex_lock(&l->lock);
	*done = true;
	pthread_cond_broadcast(&l->answered);
	pthread_mutex_unlock(&l->lock);
}

/* `a` may be gone when this returns. */
static void end_lookup(struct link_fetch *a, const struct error *err)
{
	struct redis_links *l = a->links;

	if (err)
		a->err = *err;
	report_done(l, &a->done);
}

static void on_looked_up(void *arg, const struct link_answer *answer,
			 const struct error *err)
{
	struct link_fetch *a = arg;

	if (!err && answer->link &&
	    (!a->link_id || answer->link->link_id == a->link_id)) {
		a->found = true;
		a->fn(a->arg, &a->target, answer);
	}
	end_lookup(a, err);
}

static void look_up(void *arg)
{
	struct link_fetch *a = arg;
	struct error err = {0};

	if (link_lookup_async(a->links->redis, &a->target, on_looked_up, a,
			      &err) < 0)
		end_lookup(a, &err);
}

/* `all` may be gone when this returns, if it was the last. */
static void end_life_reading(struct lives_reading *all, const struct error *err)
{
	struct redis_links *l = all->links;

	if (err)
		all->err = *err;
	if (--all->left == 0)
		report_done(l, &all->done);
}

static void on_life_read(void *arg, const struct code_facts *facts,
			 const struct error *err)
{
	struct life_reading *r = arg;
	struct lives_reading *all = r->all;
	const Shortloop__Link *link = err ? NULL : facts->answer.link;

	if (!err) {
		r->item->known = true;
		r->item->link_id = link ? link->link_id : 0;
	}
	if (link) {
		r->item->state = link->state;
		r->item->ttl_left = facts->answer.ttl_left;
		r->item->visits = facts->visits;
	}
	free(r);
	end_life_reading(all, err);
}

static void start_life_reading(struct lives_reading *all,
			       struct redis_link_life *item)
{
	struct redis_links *l = all->links;
	struct link_target target;
	struct error err = {0};
	struct life_reading *r;

	if (!linkstore_locate(l->store, item->code, strlen(item->code),
			      &target) ||
	    space_monitor_state(l->spaces, target.space) != SPACE_READY) {
		end_life_reading(all, NULL);
		return;
	}
	r = malloc(sizeof(*r));
	if (!r) {
		error_set_nomem(&err);
		end_life_reading(all, &err);
		return;
	}
	*r = (struct life_reading){all, item};
	if (code_facts_read_async(l->redis, &target, on_life_read, r, &err) ==
	    0)
		return;
	free(r);
	end_life_reading(all, &err);
}

/* The reading itself counts as one, so that it ends after the last was sent. */
static void read_lives(void *arg)
{
	struct lives_reading *all = arg;

	all->left = all->count + 1;
	for (size_t i = 0; i < all->count; i++)
		start_life_reading(all, &all->items[i]);
	end_life_reading(all, NULL);
}

/* A command, on the stack of the thread that waits for its answer. */
struct command_wait {
	struct redis_links *links;
	struct command *command;
	redis_reply_fn *fn;
	void *arg;
	struct error err;
	bool done; /* protected by the lock */
};

/* `w` may be gone when this returns. */
static void on_replied(void *arg, const redisReply *reply,
		       const struct error *err)
{
	struct command_wait *w = arg;

	if (err)
		w->err = *err;
	else
		w->fn(w->arg, reply, NULL);
	report_done(w->links, &w->done);
}

static void send_command(void *arg)
{
	struct command_wait *w = arg;
	struct error err = {0};

	if (command_send(w->command, w->links->redis, on_replied, w, &err) < 0)
		on_replied(w, NULL, &err);
}

static void on_state(void *arg, bool up, const struct error *err)
{
	struct redis_links *l = arg;

	if (up)
		log_info(l->options.log, "Redis connected");
	else if (l->up)
		log_warn(l->options.log, "Redis disconnected", log_err(err));
	l->up = up;
}

/* Sets a remark only: links in the archive are answered whatever is wrong here.
 */
static void on_space_checked(void *arg, const struct link_space *space,
			     enum space_state state, const struct error *err)
{
	struct redis_links *l = arg;
	char text[MISSING_KEYS_TEXT_MAX];

	(void)state;
	if (err)
		health_say(l->health, err->text);
	else if (missing_keys_tell(space, l->keys_missing[space->index], text))
		health_say(l->health, text);
	else if (space_monitor_all_ready(l->spaces))
		health_up(l->health);
}

static void on_failure(void *arg, const struct error *err)
{
	const struct redis_links *l = arg;

	log_error(l->options.log, "event loop", log_err(err));
}

/* --- on the caller's thread ----------------------------------------------- */

static int refuse_unknown(struct error *err)
{
	return error_set(err, ERROR_NOTFOUND, "there is no such link");
}

static int refuse_missing_key(const struct link_space *space, struct error *err)
{
	return error_set_retriable(err, ERROR_REMOTE,
				   "links of space %s may be of a key version "
				   "that is not configured here",
				   space->name);
}

static int check_space(const struct redis_links *l,
		       const struct link_space *space, struct error *err)
{
	enum space_state state = space_monitor_state(l->spaces, space);
	char text[SPACE_STATE_TEXT_MAX];

	if (state == SPACE_READY)
		return 0;
	return error_set_retriable(err, ERROR_REMOTE, "%s",
				   space_state_describe(state, space, text));
}

/* Calls `fn` on the loop, and waits until report_done is called for `done`. */
static int wait_for_loop(struct redis_links *l, void (*fn)(void *arg),
			 void *arg, const bool *done, struct error *err)
{
	if (loop_post(l->loop, fn, arg, err) < 0)
		return -1;
	pthread_mutex_lock(&l->lock);
	while (!*done)
		pthread_cond_wait(&l->answered, &l->lock);
	pthread_mutex_unlock(&l->lock);
	return 0;
}

/* Looks a->target up, and waits.  *ret_found is false if Redis has no such
 * link. */
static int query_redis_link(struct link_fetch *a, bool *ret_found,
			    struct error *err)
{
	struct redis_links *l = a->links;

	a->done = a->found = false;
	a->err = (struct error){0};
	if (wait_for_loop(l, look_up, a, &a->done, err) < 0)
		return -1;
	if (a->err.code != ERROR_NONE) {
		*err = a->err;
		return -1;
	}
	*ret_found = a->found;
	return 0;
}

static int locate_code(const struct redis_links *l, const char *code,
		       struct link_target *ret_target, struct error *err)
{
	size_t len = strlen(code);
	const struct link_space *space =
		linkstore_space_for(l->store, code, len);

	if (!space)
		return refuse_unknown(err);
	if (check_space(l, space, err) < 0)
		return -1;
	if (linkstore_locate(l->store, code, len, ret_target))
		return 0;
	return linkstore_lacks_key(l->store, code, len)
		       ? refuse_missing_key(space, err)
		       : refuse_unknown(err);
}

int redis_links_find_code(struct redis_links *l, const char *code,
			  redis_links_fn *fn, void *arg, struct error *err)
{
	struct link_fetch a = {.links = l, .fn = fn, .arg = arg};
	bool found = false;

	if (locate_code(l, code, &a.target, err) < 0 ||
	    query_redis_link(&a, &found, err) < 0)
		return -1;
	return found ? 0 : refuse_unknown(err);
}

int redis_links_find_id(struct redis_links *l, uint64_t link_id,
			redis_links_fn *fn, void *arg, struct error *err)
{
	const struct link_space *space =
		linkstore_space_of_id(l->store, link_id);
	struct link_fetch a = {
		.links = l, .link_id = link_id, .fn = fn, .arg = arg};
	bool found = false;

	if (!space)
		return refuse_unknown(err);
	if (check_space(l, space, err) < 0)
		return -1;
	/* The id does not tell which of the space's keys made its code. */
	for (unsigned v = 0; !found && v < CODE_VERSIONS; v++)
		if (linkstore_locate_id(l->store, link_id, v, &a.target) &&
		    query_redis_link(&a, &found, err) < 0)
			return -1;
	if (found)
		return 0;
	return linkstore_missing_keys(space, true)
		       ? refuse_missing_key(space, err)
		       : refuse_unknown(err);
}

int redis_links_read_lives(struct redis_links *l, struct redis_link_life *items,
			   size_t count, struct error *err)
{
	struct lives_reading all = {.links = l, .items = items, .count = count};

	if (wait_for_loop(l, read_lives, &all, &all.done, err) < 0)
		return -1;
	if (all.err.code == ERROR_NONE)
		return 0;
	*err = all.err;
	return -1;
}

int redis_links_command(struct redis_links *l, struct command *c,
			redis_reply_fn *fn, void *arg, struct error *err)
{
	struct command_wait w = {
		.links = l, .command = c, .fn = fn, .arg = arg};

	if (wait_for_loop(l, send_command, &w, &w.done, err) < 0) {
		command_free(c);
		return -1;
	}
	if (w.err.code == ERROR_NONE)
		return 0;
	*err = w.err;
	return -1;
}

void redis_links_script(const struct redis_links *l, struct command *c,
			enum link_script script)
{
	command_script(c, linkstore_space(l->store, 0), script);
}

int64_t redis_links_end(int64_t ttl_left)
{
	return ttl_left == DURATION_NEVER ? 0 : clock_real_ms() + ttl_left;
}

bool redis_links_covers(const struct redis_links *l, const char *code,
			const char *space)
{
	struct link_target target;

	return linkstore_locate(l->store, code, strlen(code), &target) &&
	       !strcmp(target.space->name, space);
}

/* --- start and end -------------------------------------------------------- */

static int make_spaces(struct redis_links *l, struct error *err)
{
	const struct space_monitor_options options = {
		.store = l->store,
		.use = SPACE_TO_READ,
		.every = CHECK_EVERY_MS,
		.on_checked = on_space_checked,
		.arg = l,
	};
	size_t count = linkstore_space_count(l->store);

	l->keys_missing = calloc(count, sizeof(struct metric *));
	if (!l->keys_missing)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		l->keys_missing[i] = missing_keys_register(
			l->options.metrics, linkstore_space(l->store, i));
	l->health = health_register(l->options.health, "links");
	l->spaces = space_monitor_new(&options, err);
	return l->spaces ? 0 : -1;
}

static int make_parts(struct redis_links *l, struct error *err)
{
	const struct aggregator_config *config = l->options.config;

	l->store = linkstore_new(&config->links, err);
	if (!l->store || make_spaces(l, err) < 0)
		return -1;
	l->loop = loop_new(err);
	if (!l->loop)
		return -1;
	l->redis =
		redis_async_new(l->loop, &config->redis,
				linkstore_scripts(l->store), on_state, l, err);
	if (!l->redis)
		return -1;
	l->thread = (struct serving_thread){
		.loop = l->loop, .on_failure = on_failure, .arg = l};
	return space_monitor_start(l->spaces, l->loop, l->redis, err);
}

struct redis_links *redis_links_new(const struct redis_links_options *options,
				    struct error *err)
{
	struct redis_links *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	l->options = *options;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->answered, NULL);
	if (make_parts(l, err) < 0) {
		redis_links_free(l);
		return NULL;
	}
	return l;
}

int redis_links_start(struct redis_links *l, struct error *err)
{
	return serving_thread_start(&l->thread, err);
}

void redis_links_free(struct redis_links *l)
{
	if (!l)
		return;
	if (l->thread.running)
		loop_stop(l->loop);
	serving_thread_join(&l->thread);
	if (l->spaces)
		space_monitor_stop(l->spaces);
	redis_async_free(l->redis);
	space_monitor_free(l->spaces);
	loop_free(l->loop);
	linkstore_free(l->store);
	free(l->keys_missing);
	pthread_cond_destroy(&l->answered);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
