/*
 * metrics.h - counters, gauges and histograms in the Prometheus text format.
 *
 * Register at start, or each name from one thread only; update from any thread
 * (relaxed atomics); render from any thread.  A metric lives as long as its
 * registry.  Registering a name and labels again returns the existing metric,
 * so that the threads of a program share their metrics.  Every update accepts a
 * NULL metric and then does nothing, so that a failed registration (out of
 * memory) never needs a branch in the caller.
 *
 * Names follow Prometheus' conventions: shortloop_<program>_<what>_<unit>,
 * counters end in _total, base units (seconds, bytes).
 */
#ifndef COMMON_METRICS_METRICS_H
#define COMMON_METRICS_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"

struct metrics;
struct metric;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/*
 * `labels` is written between the braces ("outcome=\"hit\""), or NULL.  Metrics
 * of one name must be registered with one help text.  Strings are copied.
 */
struct metric *metrics_counter(struct metrics *m, const char *name,
			       const char *labels, const char *help);
struct metric *metrics_gauge(struct metrics *m, const char *name,
			     const char *labels, const char *help);
/* `bounds`: ascending upper bounds, copied; +Inf is added. */
struct metric *metrics_histogram(struct metrics *m, const char *name,
				 const char *labels, const char *help,
				 const double *bounds, size_t bound_count);

void metric_add(struct metric *metric, uint64_t n);
void metric_set(struct metric *metric, int64_t value);
void metric_observe(struct metric *metric, double value);
uint64_t metric_value(const struct metric *metric);

/*
 * Makes `cell` count as part of the counter: the one thread that owns it adds
 * to it by relaxed loads and stores, which need no locked instructions, and
 * rendering includes its value at once.  metric_value excludes it until it is
 * detached: then it is added to the counter.  The cell must stay valid until
 * then.  Callable from any thread.  A NULL counter is accepted.
 */
int metrics_attach(struct metrics *m, struct metric *counter,
		   const _Atomic uint64_t *cell, struct error *err);
/* Does nothing for a cell that was not attached. */
void metrics_detach(struct metrics *m, struct metric *counter,
		    const _Atomic uint64_t *cell);

/* Latency bounds in seconds, 100 us to 10 s. */
extern const double metrics_latency_bounds[];
extern const size_t metrics_latency_bound_count;

void metrics_render(struct metrics *m, struct buf *out);

#endif
