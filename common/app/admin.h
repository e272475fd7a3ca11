/*
 * admin.h - the listener for operators: /healthz, /readyz and /metrics.
 *
 * /healthz answers 200 while the program runs; /readyz 200, or 503 with a line
 * "dependency: reason" for each that is down; /metrics Prometheus' text format.
 */
#ifndef COMMON_APP_ADMIN_H
#define COMMON_APP_ADMIN_H

#include <stdint.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/metrics/metrics.h"

struct admin;

/* Serves in a thread of its own until admin_free.  Everything given must
 * outlive it. */
struct admin *admin_new(const char *address, const struct http_config *config,
			struct metrics *metrics, struct health *health,
			struct error *err);
/* The same on a listening socket, which it takes over, also on failure. */
struct admin *admin_new_at(int fd, const struct http_config *config,
			   struct metrics *metrics, struct health *health,
			   struct error *err);
/* Leaves the socket to another process that has it, and answers connected
 * clients for at most `timeout_ms`; does not wait for that. */
void admin_leave(struct admin *a, int64_t timeout_ms);
void admin_free(struct admin *a); /* NULL accepted */

#endif
