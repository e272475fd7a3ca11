#include "common/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/wake.h"

enum {
	GATHER_MS =
		2, /* lines that come within this time are written at once */
	RETRY_MS = 1000,
	RETRY_AT_END_MS = 50
};

struct line_file {
	struct line_file_options options;
	char *path;
	pthread_t thread;

	/* State shared with the writing thread; guarded by the lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct buf queue;
	uint64_t lost;		     /* lines; not yet noted in the file */
	bool reopen_asked, stopping; /* set until the thread has handled it */
	int64_t give_up;	     /* clock_monotonic_ms, once stopping */

	/* State of the writing thread only. */
	struct buf writing;
	size_t done; /* bytes of `writing` that are in the file */
	int fd;
	bool must_reopen;
};

static uint64_t count_lines(const char *text, size_t len)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines;
}

/* --- the file ------------------------------------------------------------- */

/* Neither opening nor writing may block on a pipe without a reader. */
static int open_file(const char *path)
{
	return open(path,
		    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
		    0640);
}

static void note_failure(struct line_file *f, const char *what)
{
	struct error err = {0};

	error_set_errno(&err, "%.200s: the %s cannot be %s", f->path,
			f->options.name, what);
	metric_add(f->options.failures, 1);
	f->options.on_state(f->options.arg, &err);
}

/* Opens the file again.  A line of which a part is in the old file is written
 * whole into the new one. */
static int reopen_file(struct line_file *f)
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

/* Returns what write() returns; waits a moment for a pipe that is full. */
static ssize_t write_some(const struct line_file *f)
{
	struct pollfd pipe = {.fd = f->fd, .events = POLLOUT};
	const char *from = f->writing.data + f->done;
	size_t len = f->writing.len - f->done;
	ssize_t n = write(f->fd, from, len);

	if (n < 0 && errno == EAGAIN && poll(&pipe, 1, RETRY_MS) > 0)
		n = write(f->fd, from, len);
	return n;
}

/* Returns -1 if the file accepts no more for now. */
static int write_out(struct line_file *f)
{
	ssize_t n;

	while (f->done < f->writing.len) {
		n = write_some(f);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			note_failure(f, "written");
			return -1;
		}
		metric_add(f->options.written,
			   count_lines(f->writing.data + f->done, (size_t)n));
		f->done += (size_t)n;
	}
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

/* Takes the queue for writing, and adds a line that reports the lines lost
 * meanwhile. */
static void take_queue(struct line_file *f)
{
	struct buf taken = f->queue;

	f->queue = f->writing;
	f->writing = taken;
	if (f->lost && f->options.put_lost)
		f->options.put_lost(&f->writing, f->lost);
	f->lost = 0;
}

/* Called with the lock held.  Returns false if the thread has to end. */
static bool wait_for_work(struct line_file *f)
{
	while (!f->queue.len && !f->lost && !f->reopen_asked && !f->stopping)
		pthread_cond_wait(&f->wake, &f->lock);
	return f->queue.len || f->lost || f->reopen_asked || !f->stopping;
}

/* Waits after a failure; a reopen or the end wakes it early.  Returns false if
 * it is time to give up. */
static bool wait_to_retry(struct line_file *f)
{
	bool go_on;

	pthread_mutex_lock(&f->lock);
	if (!f->reopen_asked)
		wake_wait(&f->wake, &f->lock,
			  clock_monotonic_ms() +
				  (f->stopping ? RETRY_AT_END_MS : RETRY_MS));
	go_on = !f->stopping || clock_monotonic_ms() < f->give_up;
	pthread_mutex_unlock(&f->lock);
	return go_on;
}

static int try_to_write(struct line_file *f)
{
	pthread_mutex_lock(&f->lock);
	f->must_reopen |= f->reopen_asked;
	f->reopen_asked = false;
	pthread_mutex_unlock(&f->lock);
	if (f->must_reopen && reopen_file(f) < 0)
		return -1;
	f->must_reopen = false;
	return write_out(f);
}

/* Writes what was taken, however long that takes.  Returns false if it gave
 * up. */
static bool write_taken(struct line_file *f)
{
	while (try_to_write(f) < 0) {
		if (!wait_to_retry(f))
			return false;
	}
	f->options.on_state(f->options.arg, NULL);
	return true;
}

static void *run_writing_thread(void *arg)
{
	struct line_file *f = arg;
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

/* --- life ----------------------------------------------------------------- */

static int start_line_file(struct line_file *f, struct error *err)
{
	f->path = strdup(f->options.path);
	if (!f->path)
		return error_set_nomem(err);
	f->fd = open_file(f->path);
	if (f->fd < 0)
		return error_set(err, ERROR_CONFIG, "%s: %s", f->path,
				 strerror(errno));
	errno = pthread_create(&f->thread, NULL, run_writing_thread, f);
	if (errno == 0)
		return 0;
	error_set_errno(err, "cannot start a thread");
	close(f->fd);
	return -1;
}

static void destroy_line_file(struct line_file *f)
{
	pthread_cond_destroy(&f->wake);
	pthread_mutex_destroy(&f->lock);
	buf_free(&f->queue);
	buf_free(&f->writing);
	free(f->path);
	free(f);
}

struct line_file *line_file_new(const struct line_file_options *options,
				struct error *err)
{
	struct line_file *f = calloc(1, sizeof(*f));

	if (!f) {
		error_set_nomem(err);
		return NULL;
	}
	f->options = *options;
	pthread_mutex_init(&f->lock, NULL);
	wake_init(&f->wake);
	if (start_line_file(f, err) == 0)
		return f;
	destroy_line_file(f);
	return NULL;
}

uint64_t line_file_free(struct line_file *f, int64_t timeout_ms)
{
	uint64_t left;

	if (!f)
		return 0;
	pthread_mutex_lock(&f->lock);
	f->stopping = true;
	f->give_up = clock_monotonic_ms() + timeout_ms;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	left = f->lost + count_lines(f->queue.data, f->queue.len);
	if (f->writing.len > f->done)
		left += count_lines(f->writing.data + f->done,
				    f->writing.len - f->done);
	close(f->fd);
	destroy_line_file(f);
	return left;
}

void line_file_reopen(struct line_file *f)
{
	pthread_mutex_lock(&f->lock);
	f->reopen_asked = true;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
}

/* --- lines ---------------------------------------------------------------- */

/* Counts lost lines; lines that could not be made count as at least one. */
static void count_lost_lines(struct line_file *f, const struct buf *lines)
{
	uint64_t count = count_lines(lines->data, lines->len) + lines->failed;

	f->lost += count;
	metric_add(f->options.lost, count);
}

void line_file_put(struct line_file *f, const struct buf *lines)
{
	pthread_mutex_lock(&f->lock);
	if (lines->failed ||
	    f->queue.len + lines->len > (size_t)f->options.queue_bytes ||
	    !buf_reserve(&f->queue, lines->len)) {
		count_lost_lines(f, lines);
		f->queue.failed = false;
	} else {
		if (!f->queue.len)
			pthread_cond_signal(&f->wake);
		buf_append(&f->queue, lines->data, lines->len);
	}
	pthread_mutex_unlock(&f->lock);
}
