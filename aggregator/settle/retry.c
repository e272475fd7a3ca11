#include "aggregator/settle/retry.h"

#include <sodium.h>

#include "common/backoff.h"

#define BACKOFF_MIN 200	  /* ms */
#define BACKOFF_MAX 10000 /* ms */

int64_t retry_after(struct retry *retry, const struct error *err, bool stopping)
{
	int64_t delay = backoff_delay(BACKOFF_MIN, BACKOFF_MAX,
				      ++retry->in_a_row, randombytes_random());

	if (stopping)
		return delay;
	metric_add(retry->failures, 1);
	log_debug(retry->log, "retrying", log_err(err),
		  log_int("after_ms", delay));
	if (!err->retriable)
		log_error(retry->log, "settling fails", log_err(err));
	return delay;
}
