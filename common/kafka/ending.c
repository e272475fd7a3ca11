#include "common/kafka/ending.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/wake.h"

void kafka_client_drain(rd_kafka_t *rk,
			rd_kafka_topic_partition_list_t *partitions,
			int timeout_ms)
{
	(void)rd_kafka_offsets_for_times(rk, partitions, timeout_ms);
}

/* Shared by the waiting caller and the thread; the last of the two to leave
 * frees it. */
struct client_ending {
	rd_kafka_t *rk;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	bool ended;
	bool left; /* the caller no longer waits */
};

static struct client_ending *ending_new(rd_kafka_t *rk)
{
	struct client_ending *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	if (wake_init(&e->wake) != 0) {
		free(e);
		return NULL;
	}
	pthread_mutex_init(&e->lock, NULL);
	e->rk = rk;
	return e;
}

static void ending_free(struct client_ending *e)
{
	pthread_cond_destroy(&e->wake);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void *run_ending(void *arg)
{
	struct client_ending *e = arg;
	bool left;

	rd_kafka_destroy(e->rk);
	pthread_mutex_lock(&e->lock);
	e->ended = true;
	left = e->left;
	pthread_cond_signal(&e->wake);
	pthread_mutex_unlock(&e->lock);
	if (left)
		ending_free(e);
	return NULL;
}

static bool start_thread(struct client_ending *e)
{
	pthread_attr_t attr;
	pthread_t thread;
	int result;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	result = pthread_create(&thread, &attr, run_ending, e);
	pthread_attr_destroy(&attr);
	return result == 0;
}

static bool await_end(struct client_ending *e, int timeout_ms)
{
	int64_t until = clock_monotonic_ms() + timeout_ms;
	bool ended;

	pthread_mutex_lock(&e->lock);
	while (!e->ended && wake_wait(&e->wake, &e->lock, until))
		;
	ended = e->ended;
	e->left = true;
	pthread_mutex_unlock(&e->lock);
	if (ended)
		ending_free(e);
	return ended;
}

bool kafka_client_destroy(rd_kafka_t *rk, int timeout_ms)
{
	struct client_ending *e = ending_new(rk);

	if (e && start_thread(e))
		return await_end(e, timeout_ms);
	/* If no thread can be started, the caller destroys the client. */
	if (e)
		ending_free(e);
	rd_kafka_destroy(rk);
	return true;
}
