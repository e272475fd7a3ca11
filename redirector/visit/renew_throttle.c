#include "redirector/visit/renew_throttle.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 4096 /* a power of two */

struct renewal_slot {
	uint64_t link_id; /* 0: empty; no link has it */
	int64_t since;	  /* time of its renewal */
};

struct renew_throttle {
	pthread_mutex_t lock;
	struct renewal_slot buckets[BUCKETS];
};

struct renew_throttle *renew_throttle_new(struct error *err)
{
	struct renew_throttle *throttle = calloc(1, sizeof(*throttle));

	if (!throttle) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&throttle->lock, NULL);
	return throttle;
}

void renew_throttle_free(struct renew_throttle *throttle)
{
	if (!throttle)
		return;
	pthread_mutex_destroy(&throttle->lock);
	free(throttle);
}

static struct renewal_slot *bucket_of(struct renew_throttle *throttle,
				      uint64_t link_id)
{
	/* Multiplies by 2^64 / phi (Knuth, TAOCP 6.4), so that links of one
	 * block, whose ids differ in a few bits, spread. */
	return &throttle->buckets[link_id * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

bool renew_throttle_admit(struct renew_throttle *throttle, uint64_t link_id,
			  int64_t now, int64_t interval)
{
	struct renewal_slot *bucket = bucket_of(throttle, link_id);
	bool admitted;

	pthread_mutex_lock(&throttle->lock);
	admitted =
		bucket->link_id != link_id || now - bucket->since >= interval;
	if (admitted)
		*bucket = (struct renewal_slot){link_id, now};
	pthread_mutex_unlock(&throttle->lock);
	return admitted;
}

void renew_throttle_reset(struct renew_throttle *throttle, uint64_t link_id)
{
	struct renewal_slot *bucket = bucket_of(throttle, link_id);

	pthread_mutex_lock(&throttle->lock);
	if (bucket->link_id == link_id)
		bucket->link_id = 0;
	pthread_mutex_unlock(&throttle->lock);
}
