#include "common/wake.h"

#include <time.h>

int wake_init(pthread_cond_t *wake)
{
	pthread_condattr_t attr;
	int result = pthread_condattr_init(&attr);

	if (result)
		return result;
	result = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	if (!result)
		result = pthread_cond_init(wake, &attr);
	pthread_condattr_destroy(&attr);
	return result;
}

bool wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t at_ms)
{
	const struct timespec at = {.tv_sec = at_ms / 1000,
				    .tv_nsec = at_ms % 1000 * 1000000};

	return pthread_cond_timedwait(wake, lock, &at) == 0;
}
