#include "allocator/block_pool/block_pool_metrics.h"

void block_pool_metrics_register(struct block_pool_metrics *pm,
				 struct metrics *m)
{
	pm->held = metrics_gauge(m, "shortloop_allocator_blocks_held", NULL,
				 "Blocks open in our hands");
	pm->waiting = metrics_gauge(m, "shortloop_allocator_creates_waiting",
				    NULL, "Creates that wait for a block");
	pm->waited = metrics_counter(
		m, "shortloop_allocator_creates_waited_total", NULL,
		"Creates that had to wait for a block: the first of each "
		"thread, space and TTL class, then none while Redis is there");
	pm->grants = metrics_counter(m, "shortloop_allocator_grants_total",
				     "outcome=\"granted\"", "Grants asked for");
	pm->grants_failed =
		metrics_counter(m, "shortloop_allocator_grants_total",
				"outcome=\"failed\"", "Grants asked for");
	pm->blocks_granted =
		metrics_counter(m, "shortloop_allocator_blocks_granted_total",
				NULL, "Blocks in the grants we were given");
	pm->opens_refused =
		metrics_counter(m, "shortloop_allocator_opens_refused_total",
				NULL, "Granted blocks open in other hands");
	pm->blocks_dropped = metrics_counter(
		m, "shortloop_allocator_blocks_dropped_total", NULL,
		"Ranges given up because a create was refused");
	pm->blocks_expired = metrics_counter(
		m, "shortloop_allocator_blocks_expired_total", NULL,
		"Blocks given up because hold_max had passed");
	pm->blocks_returned =
		metrics_counter(m, "shortloop_allocator_blocks_returned_total",
				NULL, "Untouched blocks handed back");
}
