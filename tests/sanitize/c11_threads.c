/*
 * c11_threads.c - the threads, mutexes and conditions of C11, made of POSIX
 * ones.
 *
 * ThreadSanitizer of GCC and Clang intercepts pthread_create and its kin, and
 * not thrd_create: the first instrumented or intercepted function that such a
 * thread enters crashes.  Debian's librdkafka starts its threads that way.
 * Makefile links this into whatever is built with SANITIZE=thread; the linker
 * exports what a library asks for, and so librdkafka gets these and not the C
 * library's.
 *
 * The types are the C library's.  Its mtx_t is a pthread_mutex_t and its cnd_t
 * a pthread_cond_t in all but name, times are by CLOCK_REALTIME in both worlds.
 * call_once and tss_* are left out: ThreadSanitizer need not see them, since
 * their users are not instrumented.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

/* ThreadSanitizer ignores what this thread writes between the two calls. */
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mutexes differ");
static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "conditions differ");
static_assert(sizeof(thrd_t) == sizeof(pthread_t), "threads differ");

struct start {
	thrd_start_t fn;
	void *arg;
};

static int result_of_error(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case ENOMEM:
		return thrd_nomem;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	default:
		return thrd_error;
	}
}

/* --- threads ---------------------------------------------------------------
 */

static void *run_thread_function(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	return (void *)(intptr_t)start.fn(start.arg);
}

int thrd_create(thrd_t *thread, thrd_start_t fn, void *arg)
{
	struct start *start = malloc(sizeof(*start));
	int error;

	if (!start)
		return thrd_nomem;
	*start = (struct start){fn, arg};
	error = pthread_create(thread, NULL, run_thread_function, start);
	if (error)
		free(start);
	return result_of_error(error);
}

int thrd_join(thrd_t thread, int *ret_status)
{
	void *status;
	int error = pthread_join(thread, &status);

	if (!error && ret_status)
		*ret_status = (int)(intptr_t)status;
	return result_of_error(error);
}

int thrd_detach(thrd_t thread)
{
	return result_of_error(pthread_detach(thread));
}

void thrd_exit(int status)
{
	pthread_exit((void *)(intptr_t)status);
}

thrd_t thrd_current(void)
{
	return pthread_self();
}

int thrd_equal(thrd_t a, thrd_t b)
{
	return pthread_equal(a, b);
}

void thrd_yield(void)
{
	sched_yield();
}

/* --- making and ending -----------------------------------------------------
 *
 * Which of librdkafka's threads makes a mutex before others lock it, and which
 * is the last that has it, it settles by what is not seen.
 */

static void begin_ignoring_writes(void)
{
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static void end_ignoring_writes(void)
{
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

/* --- mutexes ----------------------------------------------------------------
 */

static pthread_mutex_t *mutex_of(mtx_t *m)
{
	return (pthread_mutex_t *)m;
}

int mtx_init(mtx_t *m, int type)
{
	pthread_mutexattr_t attributes;
	int error;

	pthread_mutexattr_init(&attributes);
	if (type & mtx_recursive)
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	begin_ignoring_writes();
	error = pthread_mutex_init(mutex_of(m), &attributes);
	end_ignoring_writes();
	pthread_mutexattr_destroy(&attributes);
	return result_of_error(error);
}

void mtx_destroy(mtx_t *m)
{
	begin_ignoring_writes();
	pthread_mutex_destroy(mutex_of(m));
	end_ignoring_writes();
}

int mtx_lock(mtx_t *m)
{
	return result_of_error(pthread_mutex_lock(mutex_of(m)));
}

int mtx_trylock(mtx_t *m)
{
	return result_of_error(pthread_mutex_trylock(mutex_of(m)));
}

int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
	return result_of_error(pthread_mutex_timedlock(mutex_of(m), until));
}

int mtx_unlock(mtx_t *m)
{
	return result_of_error(pthread_mutex_unlock(mutex_of(m)));
}

/* --- conditions --------------------------------------------------------------
 */

static pthread_cond_t *condition_of(cnd_t *c)
{
	return (pthread_cond_t *)c;
}

int cnd_init(cnd_t *c)
{
	int error;

	begin_ignoring_writes();
	error = pthread_cond_init(condition_of(c), NULL);
	end_ignoring_writes();
	return result_of_error(error);
}

void cnd_destroy(cnd_t *c)
{
	begin_ignoring_writes();
	pthread_cond_destroy(condition_of(c));
	end_ignoring_writes();
}

int cnd_signal(cnd_t *c)
{
	return result_of_error(pthread_cond_signal(condition_of(c)));
}

int cnd_broadcast(cnd_t *c)
{
	return result_of_error(pthread_cond_broadcast(condition_of(c)));
}

int cnd_wait(cnd_t *c, mtx_t *m)
{
	return result_of_error(pthread_cond_wait(condition_of(c), mutex_of(m)));
}

int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
		  const struct timespec *restrict until)
{
	return result_of_error(
		pthread_cond_timedwait(condition_of(c), mutex_of(m), until));
}
