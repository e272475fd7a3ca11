#include "allocator/audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/wake.h"

enum {
	GATHER_MS = 2, /* lines that come within this leave in one write */
	RETRY_MS = 1000,
	RETRY_AT_END_MS = 50
};

struct audit {
	char *path;
	size_t queue_bytes;
	struct log *log;
	struct health_check *check;
	struct metric *written, *lost_total, *failures;
	pthread_t thread;

	/* What other threads hand to the writing thread; under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct buf queue;
	uint64_t lost;		     /* lines; the file does not say so yet */
	bool reopen_asked, stopping; /* until the thread has seen it */
	int64_t give_up;	     /* clock_monotonic_ms, once stopping */

	/* Of the writing thread alone. */
	struct buf writing;
	size_t done; /* bytes of `writing` that are in the file */
	int fd;
	bool must_reopen;
	bool failing; /* the last attempt failed, and the log says so */
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

static void note_failure(struct audit *a, const char *what)
{
	struct error err = {0};

	error_set_errno(&err, "%.200s: the audit file cannot be %s", a->path,
			what);
	metric_add(a->failures, 1);
	health_down(a->check, err.text);
	if (!a->failing)
		log_error(a->log,
			  "audit file not writable: lines are held in memory",
			  log_err(&err));
	a->failing = true;
}

static void note_success(struct audit *a)
{
	if (a->failing)
		log_info(a->log, "audit file writable again: writing resumed");
	a->failing = false;
	health_up(a->check);
}

/* Opens the file anew.  A line of which a part is in the old file is written
 * whole into the new one. */
static int reopen(struct audit *a)
{
	int fd = open_file(a->path);

	if (fd < 0) {
		note_failure(a, "opened");
		return -1;
	}
	close(a->fd);
	a->fd = fd;
	while (a->done > 0 && a->writing.data[a->done - 1] != '\n')
		a->done--;
	return 0;
}

/* Returns -1 when the file takes no more for now. */
static int write_out(struct audit *a)
{
	uint64_t lines = 0;
	ssize_t n;

	while (a->done < a->writing.len) {
		n = write(a->fd, a->writing.data + a->done,
			  a->writing.len - a->done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			note_failure(a, "written");
			return -1;
		}
		lines += count_lines(a->writing.data + a->done, (size_t)n);
		a->done += (size_t)n;
	}
	metric_add(a->written, lines);
	buf_reset(&a->writing);
	a->done = 0;
	return 0;
}

/* --- the thread ----------------------------------------------------------- */

static void pause_ms(int64_t ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Takes the queue to be written, and adds a line that says what was lost
 * meanwhile. */
static void take_queue(struct audit *a)
{
	struct buf taken = a->queue;
	char now[RFC3339_TEXT_MAX];

	a->queue = a->writing;
	a->writing = taken;
	if (!a->lost)
		return;
	buf_printf(&a->writing,
		   "{\"time\":\"%s\",\"action\":\"lost\",\"lines\":%" PRIu64
		   "}\n",
		   rfc3339_format(clock_real_ms(), now), a->lost);
	a->lost = 0;
}

/* To be called under the lock.  False: the thread is to end. */
static bool wait_for_work(struct audit *a)
{
	while (!a->queue.len && !a->lost && !a->reopen_asked && !a->stopping)
		pthread_cond_wait(&a->wake, &a->lock);
	return a->queue.len || a->lost || a->reopen_asked || !a->stopping;
}

/* Waits after a failure; a reopen or the end wakes it early.  False: it is time
 * to give up. */
static bool wait_to_retry(struct audit *a)
{
	bool go_on;

	pthread_mutex_lock(&a->lock);
	if (!a->reopen_asked)
		wake_wait(&a->wake, &a->lock,
			  clock_monotonic_ms() +
				  (a->stopping ? RETRY_AT_END_MS : RETRY_MS));
	go_on = !a->stopping || clock_monotonic_ms() < a->give_up;
	pthread_mutex_unlock(&a->lock);
	return go_on;
}

static int try_to_write(struct audit *a)
{
	pthread_mutex_lock(&a->lock);
	a->must_reopen |= a->reopen_asked;
	a->reopen_asked = false;
	pthread_mutex_unlock(&a->lock);
	if (a->must_reopen && reopen(a) < 0)
		return -1;
	a->must_reopen = false;
	return write_out(a);
}

/* Writes what was taken, however long that takes.  False: given up. */
static bool write_taken(struct audit *a)
{
	while (try_to_write(a) < 0) {
		if (!wait_to_retry(a))
			return false;
	}
	note_success(a);
	return true;
}

static void *run(void *arg)
{
	struct audit *a = arg;
	bool go_on, stopping;

	do {
		pthread_mutex_lock(&a->lock);
		go_on = wait_for_work(a);
		stopping = a->stopping;
		pthread_mutex_unlock(&a->lock);
		if (!go_on)
			break;
		if (!stopping)
			pause_ms(GATHER_MS);
		pthread_mutex_lock(&a->lock);
		take_queue(a);
		pthread_mutex_unlock(&a->lock);
	} while (write_taken(a));
	return NULL;
}

/* --- life ----------------------------------------------------------------- */

static int start(struct audit *a, const struct audit_options *options,
		 struct error *err)
{
	a->path = strdup(options->path);
	if (!a->path)
		return error_set_nomem(err);
	a->fd = open_file(a->path);
	if (a->fd < 0)
		return error_set(err, ERROR_CONFIG,
				 "allocator.audit_file: %s: %s", a->path,
				 strerror(errno));
	errno = pthread_create(&a->thread, NULL, run, a);
	if (errno == 0)
		return 0;
	error_set_errno(err, "cannot start a thread");
	close(a->fd);
	return -1;
}

static void destroy(struct audit *a)
{
	pthread_cond_destroy(&a->wake);
	pthread_mutex_destroy(&a->lock);
	buf_free(&a->queue);
	buf_free(&a->writing);
	free(a->path);
	free(a);
}

struct audit *audit_new(const struct audit_options *options, struct error *err)
{
	struct metrics *m = options->metrics;
	struct audit *a = calloc(1, sizeof(*a));

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	a->log = options->log;
	a->queue_bytes = (size_t)options->queue_bytes;
	a->written = metrics_counter(m, "shortloop_allocator_audit_lines_total",
				     NULL, "Audit lines written");
	a->lost_total =
		metrics_counter(m, "shortloop_allocator_audit_lost_total", NULL,
				"Audit lines lost: the file could not be "
				"written for too long");
	a->failures = metrics_counter(
		m, "shortloop_allocator_audit_write_failures_total", NULL,
		"Times the audit file could not be opened or written");
	pthread_mutex_init(&a->lock, NULL);
	wake_init(&a->wake);
	if (start(a, options, err) < 0) {
		destroy(a);
		return NULL;
	}
	a->check = health_register(options->health, "audit");
	health_up(a->check);
	return a;
}

void audit_free(struct audit *a, int64_t timeout_ms)
{
	uint64_t left;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stopping = true;
	a->give_up = clock_monotonic_ms() + timeout_ms;
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	left = a->lost + count_lines(a->queue.data, a->queue.len) +
	       count_lines(a->writing.data + a->done, a->writing.len - a->done);
	if (left)
		log_error(a->log,
			  "audit lines dropped: the file cannot be written",
			  log_int("lines", (int64_t)left));
	close(a->fd);
	destroy(a);
}

void audit_reopen(struct audit *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->reopen_asked = true;
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
}

/* --- lines ---------------------------------------------------------------- */

/* Takes the line over.  One that could not be made, or for which there is no
 * room, is counted as lost. */
static void enqueue(struct audit *a, struct buf *line)
{
	pthread_mutex_lock(&a->lock);
	if (line->failed || a->queue.len + line->len > a->queue_bytes ||
	    !buf_reserve(&a->queue, line->len)) {
		a->lost++;
		metric_add(a->lost_total, 1);
		a->queue.failed = false;
	} else {
		if (!a->queue.len)
			pthread_cond_signal(&a->wake);
		buf_append(&a->queue, line->data, line->len);
	}
	pthread_mutex_unlock(&a->lock);
	buf_free(line);
}

struct audit_source audit_source_of(const struct http_request *req,
				    const char *key)
{
	return (struct audit_source){
		.key = key,
		.peer = http_peer(req),
		.forwarded_for = http_header_get(req, "X-Forwarded-For"),
		.request_id = http_header_get(req, "X-Request-Id"),
	};
}

void audit_link(struct audit *a, enum audit_action action,
		const struct audit_entry *entry)
{
	struct buf line = {0};

	if (!a)
		return;
	buf_reserve(&line, 1024);
	audit_line_write(action, entry, clock_real_ms(), &line);
	enqueue(a, &line);
}

void audit_keys_reloaded(struct audit *a, size_t keys)
{
	struct buf line = {0};
	char now[RFC3339_TEXT_MAX];

	if (!a)
		return;
	buf_printf(&line,
		   "{\"time\":\"%s\",\"action\":\"keys_reloaded\","
		   "\"keys\":%zu}\n",
		   rfc3339_format(clock_real_ms(), now), keys);
	enqueue(a, &line);
}
