#include "redirector/renew_gate.h"

#include <pthread.h>
#include <stdlib.h>

#define PLACES 4096 /* a power of two */

struct place {
	uint64_t link_id; /* 0: empty; no link has it */
	int64_t until;
};

struct renew_gate {
	pthread_mutex_t lock;
	struct place places[PLACES];
};

struct renew_gate *renew_gate_new(struct error *err)
{
	struct renew_gate *gate = calloc(1, sizeof(*gate));

	if (!gate) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&gate->lock, NULL);
	return gate;
}

void renew_gate_free(struct renew_gate *gate)
{
	if (!gate)
		return;
	pthread_mutex_destroy(&gate->lock);
	free(gate);
}

static struct place *place_of(struct renew_gate *gate, uint64_t link_id)
{
	/* Multiplied by 2^64 / phi (Knuth, TAOCP 6.4), so that links of one
	 * block, whose ids differ in a few bits, spread. */
	return &gate->places[link_id * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

bool renew_gate_pass(struct renew_gate *gate, uint64_t link_id, int64_t now,
		     int64_t interval)
{
	struct place *place = place_of(gate, link_id);
	bool pass;

	pthread_mutex_lock(&gate->lock);
	pass = place->link_id != link_id || now >= place->until;
	if (pass)
		*place = (struct place){link_id, now + interval};
	pthread_mutex_unlock(&gate->lock);
	return pass;
}

void renew_gate_forget(struct renew_gate *gate, uint64_t link_id)
{
	struct place *place = place_of(gate, link_id);

	pthread_mutex_lock(&gate->lock);
	if (place->link_id == link_id)
		place->link_id = 0;
	pthread_mutex_unlock(&gate->lock);
}
