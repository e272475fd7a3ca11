/*
 * redirector.h - the program: its configuration, and its life from main's view.
 */
#ifndef REDIRECTOR_REDIRECTOR_H
#define REDIRECTOR_REDIRECTOR_H

#include "common/app/app.h"
#include "common/http/http_server.h"
#include "common/kafka/kafka.h"
#include "common/redis/redis.h"
#include "linkstore/config.h"
#include "linkstore/domains.h"
#include "redirector/redirector_settings.h"

struct redirector_config {
	struct app_config app;
	struct http_config http;
	struct redis_config redis;
	struct kafka_config kafka;
	struct links_config links;
	struct domains_config domains;
	struct redirector_settings redirector;
};

struct redirector;

/* Binds the port and makes all parts; nothing is answered yet.  `config` must
 * outlive it. */
struct redirector *redirector_new(struct app *app,
				  const struct redirector_config *config,
				  struct error *err);

/* Starts the threads. */
int redirector_start(struct redirector *r, struct error *err);

/*
 * Stops accepting, finishes the requests that have begun and delivers their
 * events, for at most `drain_timeout` each.  Events that could not be delivered
 * are counted in the log.
 */
void redirector_drain(struct redirector *r);

/* Why it ended by itself (it then sends the process SIGTERM), or NULL. */
const struct error *redirector_failure(const struct redirector *r);

void redirector_free(struct redirector *r); /* NULL accepted */

#endif
