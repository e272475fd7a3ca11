#include "allocator/audit/audit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/wake.h"

enum {
	GATHER_MS = 2, /* lines of so long leave in one write */
	RETRY_MS = 1000,
	RETRY_AT_END_MS = 50
};

struct audit_file {
	char *path;
	size_t queue_bytes;
	struct log *log;
	struct health_check *check;
	struct metric *written, *lost_total, *failures;
	pthread_t thread;

	pthread_mutex_t lock; /* of what follows, up to `writing` */
	pthread_cond_t wake;
	struct buf queue;
	uint64_t lost; /* lines, not yet told of in the file */
	bool reopen, stopping;
	int64_t give_up; /* clock_monotonic_ms, once stopping */

	/* Of the thread alone: */
	struct buf writing;
	size_t done; /* of `writing` */
	int fd;
	bool reopening; /* has still to happen */
	bool failing;
};

static uint64_t count_lines(const char *text, size_t len)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines;
}

/* --- the file ------------------------------------------------------------- */

static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
}

static void note_failure(struct audit_file *f, const char *what)
{
	struct error err = {0};

	error_set_errno(&err, "%.200s: the audit file cannot be %s", f->path,
			what);
	metric_add(f->failures, 1);
	health_down(f->check, err.text);
	if (!f->failing)
		log_error(f->log, "audit lines wait in memory", log_err(&err));
	f->failing = true;
}

static void note_success(struct audit_file *f)
{
	if (f->failing)
		log_info(f->log, "the audit file is written again");
	f->failing = false;
	health_up(f->check);
}

/* A line begun in the old file is written whole into the new one. */
static int reopen(struct audit_file *f)
{
	int fd = open_file(f->path);

	if (fd < 0) {
		note_failure(f, "opened");
		return -1;
	}
	close(f->fd);
	f->fd = fd;
	while (f->done > 0 && f->writing.data[f->done - 1] != '\n')
		f->done--;
	return 0;
}

/* Returns -1 when the file takes no more for now. */
static int write_out(struct audit_file *f)
{
	uint64_t lines = 0;
	ssize_t n;

	while (f->done < f->writing.len) {
		n = write(f->fd, f->writing.data + f->done,
			  f->writing.len - f->done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			note_failure(f, "written");
			return -1;
		}
		lines += count_lines(f->writing.data + f->done, (size_t)n);
		f->done += (size_t)n;
	}
	metric_add(f->written, lines);
	buf_reset(&f->writing);
	f->done = 0;
	return 0;
}

/* --- the thread ----------------------------------------------------------- */

static void pause_ms(int64_t ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Takes the queue to be written, and says what was lost meanwhile. */
static void take_queue(struct audit_file *f)
{
	struct buf taken = f->queue;
	char now[RFC3339_TEXT_MAX];

	f->queue = f->writing;
	f->writing = taken;
	if (!f->lost)
		return;
	buf_printf(&f->writing,
		   "{\"time\":\"%s\",\"action\":\"lost\",\"lines\":%" PRIu64
		   "}\n",
		   rfc3339_format(clock_real_ms(), now), f->lost);
	f->lost = 0;
}

/* Under the lock.  False: there is no more to do. */
static bool wait_for_work(struct audit_file *f)
{
	while (!f->queue.len && !f->lost && !f->reopen && !f->stopping)
		pthread_cond_wait(&f->wake, &f->lock);
	return f->queue.len || f->lost || f->reopen || !f->stopping;
}

/* After a failure; woken early by a reopen or the end.  False: it is time to
 * give up. */
static bool wait_to_retry(struct audit_file *f)
{
	bool go_on;

	pthread_mutex_lock(&f->lock);
	if (!f->reopen)
		wake_wait(&f->wake, &f->lock,
			  clock_monotonic_ms() +
				  (f->stopping ? RETRY_AT_END_MS : RETRY_MS));
	go_on = !f->stopping || clock_monotonic_ms() < f->give_up;
	pthread_mutex_unlock(&f->lock);
	return go_on;
}

static int try_to_write(struct audit_file *f)
{
	pthread_mutex_lock(&f->lock);
	f->reopening |= f->reopen;
	f->reopen = false;
	pthread_mutex_unlock(&f->lock);
	if (f->reopening && reopen(f) < 0)
		return -1;
	f->reopening = false;
	return write_out(f);
}

/* Writes what was taken, however long that takes.  False: given up. */
static bool write_taken(struct audit_file *f)
{
	while (try_to_write(f) < 0) {
		if (!wait_to_retry(f))
			return false;
	}
	note_success(f);
	return true;
}

static void *run(void *arg)
{
	struct audit_file *f = arg;
	bool go_on, stopping;

	do {
		pthread_mutex_lock(&f->lock);
		go_on = wait_for_work(f);
		stopping = f->stopping;
		pthread_mutex_unlock(&f->lock);
		if (!go_on)
			break;
		if (!stopping)
			pause_ms(GATHER_MS);
		pthread_mutex_lock(&f->lock);
		take_queue(f);
		pthread_mutex_unlock(&f->lock);
	} while (write_taken(f));
	return NULL;
}

/* --- for others ----------------------------------------------------------- */

static int start(struct audit_file *f, const struct audit_options *options,
		 struct error *err)
{
	f->path = strdup(options->path);
	if (!f->path)
		return error_set_nomem(err);
	f->fd = open_file(f->path);
	if (f->fd < 0)
		return error_set(err, ERROR_CONFIG,
				 "allocator.audit_file: %s: %s", f->path,
				 strerror(errno));
	errno = pthread_create(&f->thread, NULL, run, f);
	if (errno == 0)
		return 0;
	error_set_errno(err, "cannot start a thread");
	close(f->fd);
	return -1;
}

static void destroy(struct audit_file *f)
{
	pthread_cond_destroy(&f->wake);
	pthread_mutex_destroy(&f->lock);
	buf_free(&f->queue);
	buf_free(&f->writing);
	free(f->path);
	free(f);
}

struct audit_file *audit_file_new(const struct audit_options *options,
				  struct error *err)
{
	struct metrics *m = options->metrics;
	struct audit_file *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->log = options->log;
	f->queue_bytes = (size_t)options->queue_bytes;
	f->written = metrics_counter(m, "shortloop_allocator_audit_lines_total",
				     NULL, "Audit lines written");
	f->lost_total =
		metrics_counter(m, "shortloop_allocator_audit_lost_total", NULL,
				"Audit lines lost: the file could not be "
				"written for too long");
	f->failures = metrics_counter(
		m, "shortloop_allocator_audit_write_failures_total", NULL,
		"Times the audit file could not be opened or written");
	pthread_mutex_init(&f->lock, NULL);
	wake_init(&f->wake);
	if (start(f, options, err) < 0) {
		destroy(f);
		return NULL;
	}
	f->check = health_register(options->health, "audit");
	health_up(f->check);
	return f;
}

void audit_file_free(struct audit_file *f, int64_t timeout_ms)
{
	uint64_t left;

	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stopping = true;
	f->give_up = clock_monotonic_ms() + timeout_ms;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	left = f->lost + count_lines(f->queue.data, f->queue.len) +
	       count_lines(f->writing.data + f->done, f->writing.len - f->done);
	if (left)
		log_error(f->log,
			  "audit lines are lost: the file cannot be "
			  "written",
			  log_int("lines", (int64_t)left));
	close(f->fd);
	destroy(f);
}

/* Under the lock. */
static void lose(struct audit_file *f, uint64_t lines)
{
	f->lost += lines;
	metric_add(f->lost_total, lines);
}

void audit_file_append(struct audit_file *f, const char *lines, size_t len)
{
	pthread_mutex_lock(&f->lock);
	if (f->queue.len + len > f->queue_bytes ||
	    !buf_reserve(&f->queue, len)) {
		lose(f, count_lines(lines, len));
		f->queue.failed = false;
	} else {
		if (!f->queue.len)
			pthread_cond_signal(&f->wake);
		buf_append(&f->queue, lines, len);
	}
	pthread_mutex_unlock(&f->lock);
}

void audit_file_lose(struct audit_file *f)
{
	pthread_mutex_lock(&f->lock);
	lose(f, 1);
	pthread_mutex_unlock(&f->lock);
}

void audit_file_reopen(struct audit_file *f)
{
	pthread_mutex_lock(&f->lock);
	f->reopen = true;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
}
