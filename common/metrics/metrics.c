#include "common/metrics/metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum metric_kind {
	COUNTER,
	GAUGE,
	HISTOGRAM
};

/* A histogram's sum is kept in millionths, so that it can be an atomic integer:
 * no smaller step than a microsecond of latency matters. */
#define SUM_SCALE 1e6

struct metric {
	enum metric_kind kind;
	char *name, *labels, *help;
	_Atomic int64_t value;
	double *bounds;
	size_t bound_count;
	_Atomic uint64_t *buckets; /* bound_count + 1 */
	_Atomic int64_t sum;
	const _Atomic uint64_t **cells; /* attached */
	size_t cell_count;
	struct metric *next;
};

struct metrics {
	pthread_mutex_t
		lock; /* guards the list and cells; values are atomics */
	struct metric *first, *last;
};

const double metrics_latency_bounds[] = {.0001, .00025, .0005, .001, .0025,
					 .005,	.01,	.025,  .05,  .1,
					 .25,	.5,	1,     2.5,  10};
const size_t metrics_latency_bound_count =
	sizeof(metrics_latency_bounds) / sizeof(metrics_latency_bounds[0]);

struct metrics *metrics_new(void)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (m)
		pthread_mutex_init(&m->lock, NULL);
	return m;
}

static void metric_free(struct metric *metric)
{
	free(metric->name);
	free(metric->labels);
	free(metric->help);
	free(metric->bounds);
	free(metric->buckets);
	free(metric->cells);
	free(metric);
}

void metrics_free(struct metrics *m)
{
	struct metric *next;

	if (!m)
		return;
	for (struct metric *it = m->first; it; it = next) {
		next = it->next;
		metric_free(it);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/*
 * Metrics of one name are adjacent, as the text format requires: a new one is
 * inserted after the last of its name.
 */
static void insert_metric(struct metrics *m, struct metric *metric)
{
	struct metric *after = m->last;

	pthread_mutex_lock(&m->lock);
	for (struct metric *it = m->first; it; it = it->next) {
		if (!strcmp(it->name, metric->name))
			after = it;
	}
	if (after) {
		metric->next = after->next;
		after->next = metric;
	} else {
		m->first = metric;
	}
	if (after == m->last)
		m->last = metric;
	pthread_mutex_unlock(&m->lock);
}

/* Returns the metric already registered with that name and these labels, or
 * NULL. */
static struct metric *find_metric(struct metrics *m, enum metric_kind kind,
				  const char *name, const char *labels)
{
	struct metric *it;

	pthread_mutex_lock(&m->lock);
	for (it = m->first; it; it = it->next) {
		if (it->kind == kind && !strcmp(it->name, name) &&
		    !strcmp(it->labels, labels ? labels : ""))
			break;
	}
	pthread_mutex_unlock(&m->lock);
	return it;
}

static struct metric *create_metric(enum metric_kind kind, const char *name,
				    const char *labels, const char *help)
{
	struct metric *metric = calloc(1, sizeof(*metric));

	if (!metric)
		return NULL;
	metric->kind = kind;
	metric->name = strdup(name);
	metric->labels = strdup(labels ? labels : "");
	metric->help = strdup(help);
	if (metric->name && metric->labels && metric->help)
		return metric;
	metric_free(metric);
	return NULL;
}

static struct metric *add_plain(struct metrics *m, enum metric_kind kind,
				const char *name, const char *labels,
				const char *help)
{
	struct metric *metric = m ? find_metric(m, kind, name, labels) : NULL;

	if (!m || metric)
		return metric;
	metric = create_metric(kind, name, labels, help);
	if (metric)
		insert_metric(m, metric);
	return metric;
}

struct metric *metrics_counter(struct metrics *m, const char *name,
			       const char *labels, const char *help)
{
	return add_plain(m, COUNTER, name, labels, help);
}

struct metric *metrics_gauge(struct metrics *m, const char *name,
			     const char *labels, const char *help)
{
	return add_plain(m, GAUGE, name, labels, help);
}

struct metric *metrics_histogram(struct metrics *m, const char *name,
				 const char *labels, const char *help,
				 const double *bounds, size_t bound_count)
{
	struct metric *metric =
		m ? find_metric(m, HISTOGRAM, name, labels) : NULL;

	if (!m || metric)
		return metric;
	metric = create_metric(HISTOGRAM, name, labels, help);
	if (!metric)
		return NULL;
	metric->bounds = calloc(bound_count + 1, sizeof(*metric->bounds));
	metric->buckets = calloc(bound_count + 1, sizeof(*metric->buckets));
	if (!metric->bounds || !metric->buckets) {
		metric_free(metric);
		return NULL;
	}
	memcpy(metric->bounds, bounds, bound_count * sizeof(*bounds));
	metric->bound_count = bound_count;
	insert_metric(m, metric);
	return metric;
}

void metric_add(struct metric *metric, uint64_t n)
{
	if (metric)
		atomic_fetch_add_explicit(&metric->value, (int64_t)n,
					  memory_order_relaxed);
}

void metric_set(struct metric *metric, int64_t value)
{
	if (metric)
		atomic_store_explicit(&metric->value, value,
				      memory_order_relaxed);
}

void metric_observe(struct metric *metric, double value)
{
	size_t i = 0;

	if (!metric)
		return;
	while (i < metric->bound_count && value > metric->bounds[i])
		i++;
	atomic_fetch_add_explicit(&metric->buckets[i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&metric->sum, (int64_t)(value * SUM_SCALE),
				  memory_order_relaxed);
}

uint64_t metric_value(const struct metric *metric)
{
	return metric ? (uint64_t)atomic_load_explicit(&metric->value,
						       memory_order_relaxed)
		      : 0;
}

/* --- cells ------------------------------------------------------------------
 */

static int add_cell(struct metric *counter, const _Atomic uint64_t *cell)
{
	const _Atomic uint64_t **more = realloc(
		counter->cells, (counter->cell_count + 1) * sizeof(*more));

	if (!more)
		return -1;
	more[counter->cell_count++] = cell;
	counter->cells = more;
	return 0;
}

int metrics_attach(struct metrics *m, struct metric *counter,
		   const _Atomic uint64_t *cell, struct error *err)
{
	int status;

	if (!counter)
		return 0;
	pthread_mutex_lock(&m->lock);
	status = add_cell(counter, cell);
	pthread_mutex_unlock(&m->lock);
	return status < 0 ? error_set_nomem(err) : 0;
}

void metrics_detach(struct metrics *m, struct metric *counter,
		    const _Atomic uint64_t *cell)
{
	if (!counter)
		return;
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < counter->cell_count; i++) {
		if (counter->cells[i] != cell)
			continue;
		metric_add(counter,
			   atomic_load_explicit(cell, memory_order_relaxed));
		counter->cells[i] = counter->cells[--counter->cell_count];
		break;
	}
	pthread_mutex_unlock(&m->lock);
}

/* --- rendering --------------------------------------------------------------
 */

static int64_t total_of(const struct metric *metric)
{
	int64_t total =
		atomic_load_explicit(&metric->value, memory_order_relaxed);

	for (size_t i = 0; i < metric->cell_count; i++)
		total += (int64_t)atomic_load_explicit(metric->cells[i],
						       memory_order_relaxed);
	return total;
}

static void render_line(const struct metric *metric, struct buf *out)
{
	const char *open = *metric->labels ? "{" : "";
	const char *close = *metric->labels ? "}" : "";

	buf_printf(out, "%s%s%s%s ", metric->name, open, metric->labels, close);
	buf_printf(out, "%" PRId64 "\n", total_of(metric));
}

static void render_histogram(struct metric *metric, struct buf *out)
{
	const char *comma = *metric->labels ? "," : "";
	const char *open = *metric->labels ? "{" : "";
	const char *close = *metric->labels ? "}" : "";
	uint64_t total = 0;

	for (size_t i = 0; i <= metric->bound_count; i++) {
		total += atomic_load_explicit(&metric->buckets[i],
					      memory_order_relaxed);
		buf_printf(out, "%s_bucket{%s%sle=\"", metric->name,
			   metric->labels, comma);
		if (i < metric->bound_count)
			buf_printf(out, "%g", metric->bounds[i]);
		else
			buf_puts(out, "+Inf");
		buf_printf(out, "\"} %" PRIu64 "\n", total);
	}
	buf_printf(out, "%s_sum%s%s%s %.6f\n", metric->name, open,
		   metric->labels, close,
		   (double)atomic_load_explicit(&metric->sum,
						memory_order_relaxed) /
			   SUM_SCALE);
	buf_printf(out, "%s_count%s%s%s %" PRIu64 "\n", metric->name, open,
		   metric->labels, close, total);
}

void metrics_render(struct metrics *m, struct buf *out)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};
	const char *name = "";

	pthread_mutex_lock(&m->lock);
	for (struct metric *it = m->first; it; it = it->next) {
		if (strcmp(name, it->name) != 0)
			buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n",
				   it->name, it->help, it->name,
				   types[it->kind]);
		name = it->name;
		if (it->kind == HISTOGRAM)
			render_histogram(it, out);
		else
			render_line(it, out);
	}
	pthread_mutex_unlock(&m->lock);
}
