/*
 * admission.h - whom a server answers, and how often: networks that are denied,
 * and rates of those that clients come from.
 *
 * A request costs its client a token of `client_rate`.  A code that is not in
 * the cache costs one of `unknown_rate` until Redis has told that it has a link
 * of that code, whose visitors therefore pay nothing; requests that wait for
 * one answer pay once.  It is taken before Redis is asked: of one client's
 * codes without a link, Redis is asked for no more than burst + rate * t in t
 * seconds, however many connections ask at once.
 *
 * One per server, on its thread: a client with connections to several threads
 * has its rates at each of them.  The log names one client a minute that is
 * over its limit: it may be a proxy that nobody named.  Times are the loop's.
 */
#ifndef REDIRECTOR_ADMISSION_H
#define REDIRECTOR_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/ip.h"
#include "redirector/redirector.h"

struct admission;

/* `r` outlives it. */
struct admission *admission_new(struct redirector *r, struct error *err);
void admission_free(struct admission *a); /* NULL accepted */

/* Is there a rule about requests at all?  Those below need the client. */
bool admission_has_rules(const struct admission *a);

/* Is it on the list of networks that are not answered? */
bool admission_denies(struct admission *a, const struct address *client);

/* False: the client has asked too often; *ret_wait_ms is when it may again. */
bool admission_take_request(struct admission *a, const struct address *client,
			    int64_t now, int64_t *ret_wait_ms);

/* False: the client asked for too many codes that have no link.  Else
 * *ret_network is for admission_return_unknown, if the code has one. */
bool admission_take_unknown(struct admission *a, const struct address *client,
			    int64_t now, uint64_t *ret_network,
			    int64_t *ret_wait_ms);
void admission_return_unknown(struct admission *a, uint64_t network);

/* Debts that were forgotten since the last call. */
uint64_t admission_forgotten(struct admission *a);

#endif
