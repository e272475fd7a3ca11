/*
 * Issues codes with the parts of an allocator: the block pool takes grants,
 * opens blocks and gives them up at the end of their hold, and the writer
 * stores the links of a loop turn.  If it is unknown whether a link was stored,
 * the same link is sent again until it is stored.  Each answered code is logged
 * at the end of its loop turn.
 *
 * usage: issue CONFIG create
 *	  issue CONFIG run CLASS RATE NAME LOG [HIGH-WATER-FILE]
 *
 * "create" makes the space; "run" issues codes until SIGTERM, with JOBS links
 * under way at once.  RATE links are begun in a second; 0: as many as possible.
 * A run that ends by SIGTERM prints its counts.
 */
#include "tests/faults/faults.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "allocator/block_pool/block_pool.h"
#include "common/clock.h"
#include "common/signals.h"
#include "linkstore/block/create_links.h"
#include "linkstore/block/link_writer.h"
#include "linkstore/space/raise_cursor.h"
#include "linkstore/space/space_record.h"
#include "linkstore/target.h"

enum {
	JOBS = 500,    /* links under way at once */
	PAUSE_MS = 20, /* wait before a retry */
};

/* A job creates one link after the other. */
struct job {
	struct issuer *issuer;
	struct job *next; /* the next job that waits for the timer */
	struct class_pool_request request;
	struct link_block block;
	struct link_target target;
	uint64_t unique, link_id;
	uint32_t offset;
	bool named; /* it has a code, and is stored only under that one */
};

struct issuer {
	struct faults faults;
	const struct link_class *ttl;
	struct loop *loop;
	struct loop_timer *timer;
	struct redis_async *redis;
	struct link_writer *writer;
	struct block_pool *block_pool;
	struct class_pool *class_pool; /* the pool of `ttl` */
	struct block_pool_metrics counts;
	struct high_water_file *high_water_file;
	int rate; /* links begun in a second; 0: as many as possible */
	int signals, log;
	uint64_t unique; /* for the next link */
	bool stopping;
	size_t idle;	   /* jobs that have ended */
	struct job *later; /* jobs that wait */
	struct job jobs[JOBS];
	struct issued answered[JOBS]; /* in this turn of the loop */
	size_t answered_count;
	uint64_t issued, resent, late, taken;
	struct error failed;
};

static void fail_issuer(struct issuer *is, const struct error *err)
{
	if (!is->failed.code)
		is->failed = *err;
	loop_stop(is->loop);
}

/* --- one link ------------------------------------------------------------- */

static void go_on(struct job *job);

static void wait_a_little(struct job *job)
{
	struct issuer *is = job->issuer;

	if (!is->later)
		loop_timer_set(is->timer, PAUSE_MS);
	job->next = is->later;
	is->later = job;
}

static void on_timer(void *arg)
{
	struct issuer *is = arg;
	struct job *job = is->later, *next;
	int turns = JOBS;

	if (is->rate && !is->stopping)
		turns = is->rate * PAUSE_MS / 1000;
	is->later = NULL;
	for (; job; job = next) {
		next = job->next;
		if (turns-- > 0)
			go_on(job);
		else
			wait_a_little(job);
	}
}

static void record_answer(struct job *job, int64_t expires)
{
	struct issuer *is = job->issuer;
	struct issued *one = &is->answered[is->answered_count++];

	*one = (struct issued){
		.link_id = job->link_id,
		.unique = job->unique,
		.expires = expires,
	};
	if (expires != DURATION_NEVER)
		one->created = expires - is->ttl->ttl;
	memcpy(one->code, job->target.code, sizeof(one->code));
	is->issued++;
	job->named = false;
	if (is->rate)
		wait_a_little(job);
	else
		go_on(job);
}

static void on_created(void *arg, int64_t expires, const struct error *err)
{
	struct job *job = arg;
	struct issuer *is = job->issuer;

	if (!err) {
		record_answer(job, expires);
	} else if (err->code == ERROR_REMOTE) {
		is->resent++;
		wait_a_little(job);
	} else if (err->code == ERROR_NOT_OWNER || err->code == ERROR_UNSAFE) {
		is->late += err->code == ERROR_NOT_OWNER;
		is->taken += err->code == ERROR_UNSAFE;
		if (err->code == ERROR_NOT_OWNER)
			class_pool_drop(is->class_pool, &job->block);
		job->named = false;
		go_on(job);
	} else {
		fail_issuer(is, err);
	}
}

/* Each call makes a copy of its own, as a client's second request would. */
static void store_link(struct job *job)
{
	struct issuer *is = job->issuer;
	Shortloop__Link link;
	struct error err;
	char url[64];

	shortloop__link__init(&link);
	snprintf(url, sizeof(url), FAULTS_URL, (unsigned long long)job->unique);
	link.url = url;
	link.created_ms = (uint64_t)clock_real_ms();
	if (link_prepare(&job->block, job->offset, &link, &err)) {
		fail_issuer(is, &err);
		return;
	}
	job->link_id = link.link_id;
	if (link_writer_create(is->writer, &job->block, job->target.code, &link,
			       0, on_created, job, &err))
		fail_issuer(is, &err);
}

static void on_code(void *arg, const struct link_block *block, uint32_t offset,
		    const struct error *err)
{
	struct job *job = arg;

	if (err) {
		wait_a_little(job);
		return;
	}
	job->block = *block;
	job->offset = offset;
	job->unique = job->issuer->unique++;
	job->named = true;
	linkstore_code(block->space, block->number, offset, &job->target);
	store_link(job);
}

static void on_closed(void *arg)
{
	struct issuer *is = arg;

	loop_stop(is->loop);
}

static void go_on(struct job *job)
{
	struct issuer *is = job->issuer;

	if (job->named) {
		store_link(job);
	} else if (!is->stopping) {
		job->request =
			(struct class_pool_request){.fn = on_code, .arg = job};
		class_pool_take(is->class_pool, &job->request);
	} else if (++is->idle == JOBS) {
		block_pool_close(is->block_pool, on_closed, is);
	}
}

/* --- the turn, signals, Redis --------------------------------------------- */

static void on_turn_end(void *arg)
{
	struct issuer *is = arg;
	ssize_t size = (ssize_t)(is->answered_count * sizeof(is->answered[0]));
	struct error err;

	if (size && write(is->log, is->answered, (size_t)size) != size) {
		error_set_errno(&err, "log");
		fail_issuer(is, &err);
	}
	is->answered_count = 0;
}

static void on_signal(void *arg, uint32_t events)
{
	struct issuer *is = arg;

	(void)events;
	if (signals_next(is->signals))
		is->stopping = true;
}

static void on_raised(void *arg, const struct error *err)
{
	if (err && !err->retriable)
		fail_issuer(arg, err);
}

/* An allocator does the same when it connects to Redis again. */
static void on_redis_state(void *arg, bool up, const struct error *err)
{
	struct issuer *is = arg;
	struct high_water high_water =
		high_water_file_get(is->high_water_file, is->faults.space);
	struct error ignored;

	(void)err;
	if (up && high_water.cursor)
		space_raise_cursor_async(is->redis, is->faults.space,
					 &high_water, on_raised, is, &ignored);
}

/* --- life ----------------------------------------------------------------- */

static int open_files(struct issuer *is, char **argv, struct error *err)
{
	is->ttl = linkstore_class_named(is->faults.store, argv[3]);
	if (!is->ttl)
		return error_set(err, ERROR_USAGE, "no class %s", argv[3]);
	is->rate = atoi(argv[4]);
	if (getrandom(&is->unique, sizeof(is->unique), 0) != sizeof(is->unique))
		return error_set_errno(err, "getrandom");
	is->log =
		open(argv[6], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (is->log < 0)
		return error_set_errno(err, "%s", argv[6]);
	is->high_water_file =
		high_water_file_open(argv[7], is->faults.store, err);
	return is->high_water_file ? signals_open(&is->signals, err) : -1;
}

static int open_parts(struct issuer *is, const char *name, struct error *err)
{
	struct block_pool_options options = {
		.store = is->faults.store,
		.name = name,
		.waiting_max = JOBS,
		.metrics = &is->counts,
		.high_water_file = is->high_water_file,
	};

	is->loop = options.loop = loop_new(err);
	if (!is->loop)
		return -1;
	is->redis = options.redis = redis_async_new(
		is->loop, &is->faults.config.redis,
		linkstore_scripts(is->faults.store), on_redis_state, is, err);
	if (!is->redis)
		return -1;
	is->timer = loop_timer_new(is->loop, on_timer, is, err);
	is->writer = link_writer_new(is->loop, is->redis, err);
	is->block_pool = block_pool_new(&options, err);
	if (!is->timer || !is->writer || !is->block_pool)
		return -1;
	is->class_pool =
		block_pool_class(is->block_pool, is->faults.space, is->ttl);
	if (!loop_watch_fd(is->loop, is->signals, EPOLLIN, on_signal, is, err))
		return -1;
	return loop_on_turn_end(is->loop, on_turn_end, is, err);
}

static void print_counts(const struct issuer *is)
{
	const struct block_pool_metrics *m = &is->counts;

	printf("issued %" PRIu64 " resent %" PRIu64 " late %" PRIu64
	       " taken %" PRIu64,
	       is->issued, is->resent, is->late, is->taken);
	printf(" granted %" PRIu64 " refused %" PRIu64 " dropped %" PRIu64
	       " expired %" PRIu64 " returned %" PRIu64 "\n",
	       metric_value(m->blocks_granted), metric_value(m->opens_refused),
	       metric_value(m->blocks_dropped), metric_value(m->blocks_expired),
	       metric_value(m->blocks_returned));
}

static int run_issuer(struct issuer *is, char **argv, struct error *err)
{
	struct metrics *metrics = metrics_new();
	int status = -1;

	block_pool_metrics_register(&is->counts, metrics);
	if (open_files(is, argv, err) || open_parts(is, argv[5], err))
		goto out;
	for (size_t i = 0; i < JOBS; i++) {
		is->jobs[i].issuer = is;
		wait_a_little(&is->jobs[i]);
	}
	if (loop_run(is->loop, err))
		goto out;
	print_counts(is);
	*err = is->failed;
	status = err->code ? -1 : 0;
out:
	link_writer_free(is->writer);
	redis_async_free(is->redis);
	block_pool_free(is->block_pool);
	loop_free(is->loop);
	high_water_file_free(is->high_water_file);
	metrics_free(metrics);
	return status;
}

static int create_space(const struct faults *f, struct error *err)
{
	enum space_created created;
	struct redis *redis =
		redis_new(&f->config.redis, linkstore_scripts(f->store), err);
	int status = -1;

	if (redis)
		status = space_create(redis, f->space, 0, &created, err);
	redis_free(redis);
	return status;
}

int main(int argc, char **argv)
{
	struct issuer *is = calloc(1, sizeof(*is));
	struct error err = {0};
	int status = -1;

	if (!is || argc < 3 || faults_open(&is->faults, argv[1], &err))
		goto out;
	if (argc == 3 && !strcmp(argv[2], "create"))
		status = create_space(&is->faults, &err);
	else if (argc >= 7 && argc <= 8 && !strcmp(argv[2], "run"))
		status = run_issuer(is, argv, &err);
	else
		error_set(&err, ERROR_USAGE, "the head of issue.c says how");
out:
	if (status)
		fprintf(stderr, "issue: %s\n", err.text);
	if (is)
		faults_close(&is->faults);
	free(is);
	return status ? 1 : 0;
}
