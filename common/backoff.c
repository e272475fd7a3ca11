#include "common/backoff.h"

int64_t backoff_delay(int64_t min_ms, int64_t max_ms, unsigned failures,
		      uint32_t random)
{
	int64_t delay = min_ms, half;

	for (; failures > 1 && delay < max_ms; failures--)
		delay *= 2;
	if (delay > max_ms)
		delay = max_ms;
	half = delay / 2;
	return delay - (int64_t)((double)half * random / 4294967296.0);
}
