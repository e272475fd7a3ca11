#include "collector/tools/import/patience.h"

#include <sys/random.h>

#include "common/backoff.h"
#include "common/clock.h"

enum {
	RETRY_MIN_MS = 200,
};

bool patience_may_retry(struct patience *p, struct error *err)
{
	int64_t now = clock_monotonic_ms(), pause;
	uint32_t random = 0;

	if (!err->retriable)
		return false;
	if (!p->failures++)
		p->until = now + p->wait_ms;
	if (now >= p->until)
		return false;
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (uint32_t)now;
	pause = backoff_delay(RETRY_MIN_MS, p->pause_ms, p->failures, random);
	if (p->failures == 1)
		log_warn(app_log(p->app), "waiting for ClickHouse",
			 log_err(err), log_int("after_ms", pause));
	if (app_should_stop(p->app, (int)pause)) {
		error_set(err, ERROR_STOPPED,
			  "stopped while ClickHouse was away");
		return false;
	}
	*err = (struct error){0};
	return true;
}
