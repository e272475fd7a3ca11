/*
 * admission.h - which clients a server answers, and how often: networks that
 * are denied, and rates by the network that a client comes from.
 *
 * A request costs its client a token of `client_rate`.  A code that is not in
 * the cache costs one of `unknown_rate`, which is returned when Redis reports a
 * link of that code, or gives no answer: visitors of links pay nothing.
 * Requests that wait for one look-up pay once.  The token is taken before Redis
 * is queried: for codes of one client that have no link, Redis gets at most
 * burst + rate * t queries in t seconds, however many connections send them at
 * once.
 *
 * Each server has one, on its thread: a client with connections to several
 * threads has its rates at each of them.  The log names one client a minute
 * that is over its limit: it may be a proxy that the configuration does not
 * name.  Times are the loop's.
 */
#ifndef REDIRECTOR_VISIT_ADMISSION_H
#define REDIRECTOR_VISIT_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/ip.h"
#include "redirector/redirector.h"

struct admission;

/* `r` must outlive it. */
struct admission *admission_new(struct redirector *r, struct error *err);
void admission_free(struct admission *a); /* NULL accepted */

/* False if there is no rule about requests.  If there is one, the next two
 * functions need the client's address. */
bool admission_has_rules(const struct admission *a);

/* True if the client's network is on the deny list. */
bool admission_denies(struct admission *a, const struct address *client);

/* Returns false if the client has sent too many requests; *ret_wait_ms is the
 * time until it may send the next one. */
bool admission_take_request(struct admission *a, const struct address *client,
			    int64_t now, int64_t *ret_wait_ms);

/* Returns false if the client has requested too many codes that have no link.
 * Otherwise *ret_network is for admission_return_unknown, which is called if
 * the code has a link. */
bool admission_take_unknown(struct admission *a, const struct address *client,
			    int64_t now, uint64_t *ret_network,
			    int64_t *ret_wait_ms);
void admission_return_unknown(struct admission *a, uint64_t network);

/* Returns the number of debts that were forgotten since the last call. */
uint64_t admission_forgotten(struct admission *a);

#endif
