#include "allocator/create/again.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/block/lookup.h"
#include "linkstore/idempotency.h"
#include "linkstore/target.h"

struct again {
	char key[IDEM_KEY_MAX];
	char fingerprint[IDEM_KEY_MAX];
	char plan[IDEM_RECORD_MAX]; /* ours, or the one to replace; "": none */
	struct idem_record found;   /* being looked into */
};

/* --- names ---------------------------------------------------------------- */

static void hex_digest(crypto_generichash_state *state, char ret[IDEM_KEY_MAX])
{
	unsigned char digest[16];

	crypto_generichash_final(state, digest, sizeof(digest));
	sodium_bin2hex(ret, IDEM_KEY_MAX, digest, sizeof(digest));
}

static void add(crypto_generichash_state *state, const void *data, size_t len)
{
	crypto_generichash_update(state, data, len);
}

/* 128 bits of BLAKE2b each: of the account that sent which key (and the batch's
 * line), and of what was sent.  Before there were accounts it was the API key's
 * name, which a key without account= still is its account's. */
static void name(struct again *a, const struct creation *c)
{
	const struct create_order *order = &c->order;
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, 16);
	add(&state, c->account, strlen(c->account) + 1);
	add(&state, order->key.data, order->key.len);
	add(&state, "", 1);
	add(&state, &order->line, sizeof(order->line));
	hex_digest(&state, a->key);
	crypto_generichash_init(&state, NULL, 0, 16);
	add(&state, order->body.data, order->body.len);
	hex_digest(&state, a->fingerprint);
}

static const struct linkstore *store_of(const struct creation *c)
{
	return c->order.request->fields.space->store;
}

/* --- a request that was sent before --------------------------------------- */

static void take_over(struct creation *c)
{
	strcpy(c->again->plan, c->again->found.text);
	c->strategy->take(c);
}

static void refuse_ended(struct creation *c)
{
	creation_refuse(c, 410, c->parts->metrics->invalid,
			"the first request with this Idempotency-Key created a "
			"link, which has ended since; to make another, send "
			"another key");
}

/* The link that the record names is not there. */
static void judge_absence(struct creation *c, int64_t now)
{
	const struct idem_record *found = &c->again->found;

	if (found->done)
		refuse_ended(c);
	else if (now > found->deadline)
		take_over(c);
	else
		creation_refuse(c, 409, c->parts->metrics->unavailable,
				"the first request with this Idempotency-Key "
				"is still under way");
}

/* Of a plan that is not done nobody knows whether its link was told of: rather
 * twice than never. */
static void replay(struct creation *c, const struct link_answer *answer)
{
	struct again *a = c->again;

	if (!a->found.done)
		strcpy(a->plan, a->found.text);
	creation_replay(c, answer->link, answer->ttl_left, a->found.done);
}

static void on_looked_up(void *arg, const struct link_answer *answer,
			 const struct error *err)
{
	struct creation *c = arg;
	const Shortloop__Link *link = err ? NULL : answer->link;

	if (err)
		creation_fail(c, err);
	else if (!link || link->link_id != c->again->found.link_id)
		judge_absence(c, c->asked);
	else if (link->state == SHORTLOOP__LINK_STATE__LINK_DELETED)
		refuse_ended(c);
	else
		replay(c, answer);
}

static void look_into(struct creation *c, const struct idem_record *record,
		      int64_t now)
{
	struct again *a = c->again;
	struct error err;

	if (strcmp(record->fingerprint, a->fingerprint) != 0) {
		creation_refuse(c, 422, c->parts->metrics->invalid,
				"this Idempotency-Key was sent with another "
				"request before; send a new one");
		return;
	}
	a->found = *record;
	c->asked = now;
	if (linkstore_lacks_key(store_of(c), record->code,
				strlen(record->code)))
		creation_refuse(c, 503, c->parts->metrics->unavailable,
				"the code of the first request is of a key "
				"version that is not configured here");
	else if (!linkstore_locate(store_of(c), record->code,
				   strlen(record->code), &c->target))
		judge_absence(c, now);
	else if (link_lookup_async(c->parts->redis, &c->target, on_looked_up, c,
				   &err) < 0)
		creation_fail(c, &err);
}

static void on_read(void *arg, const struct idem_record *record, int64_t now,
		    bool written, const struct error *err)
{
	struct creation *c = arg;

	(void)written;
	if (err)
		creation_fail(c, err);
	else if (*record->text)
		look_into(c, record, now);
	else
		c->strategy->take(c);
}

void again_begin(struct creation *c)
{
	struct error err;

	c->again = calloc(1, sizeof(*c->again));
	if (!c->again) {
		error_set_nomem(&err);
		creation_fail(c, &err);
		return;
	}
	name(c->again, c);
	if (idem_read_async(c->parts->redis, store_of(c), c->again->key,
			    on_read, c, &err) < 0)
		creation_fail(c, &err);
}

/* --- the plan ------------------------------------------------------------- */

static void on_planned(void *arg, const struct idem_record *record, int64_t now,
		       bool written, const struct error *err)
{
	struct creation *c = arg;

	if (err) {
		creation_fail(c, err);
	} else if (!written && *record->text) {
		/* Somebody was faster, so there is nothing of ours to drop. */
		c->again->plan[0] = '\0';
		look_into(c, record, now);
	} else if (!written) {
		c->again->plan[0] = '\0';
		again_plan(c);
	} else {
		strcpy(c->again->plan, record->text);
		c->deadline = record->deadline;
		c->strategy->store(c);
	}
}

static struct idem_record record_of(const struct creation *c,
				    const Shortloop__Link *link, bool done)
{
	struct idem_record values = {.done = done, .link_id = link->link_id};

	memcpy(values.fingerprint, c->again->fingerprint,
	       sizeof(values.fingerprint));
	memcpy(values.code, c->target.code, sizeof(values.code));
	return values;
}

void again_plan(struct creation *c)
{
	struct idem_record values = record_of(c, &c->link, false);
	struct error err;

	if (c->strategy == &create_hash) {
		c->strategy->store(c);
		return;
	}
	if (idem_write_async(c->parts->redis, store_of(c), c->again->key,
			     c->again->plan, &values, on_planned, c, &err) < 0)
		creation_fail(c, &err);
}

/* --- the end -------------------------------------------------------------- */

static void ignore(void *arg, const struct idem_record *record, int64_t now,
		   bool written, const struct error *err)
{
	(void)arg;
	(void)record;
	(void)now;
	(void)written;
	(void)err;
}

/* What fails here is judged by the link when the request comes again. */
void again_end(struct creation *c, const Shortloop__Link *stored, bool sure)
{
	struct again *a = c->again;
	struct idem_record values;
	struct error err;

	if (stored && c->strategy == &create_hash) {
		values = record_of(c, stored, true);
		idem_write_async(c->parts->redis, store_of(c), a->key, a->plan,
				 &values, ignore, NULL, &err);
	} else if (*a->plan && (stored || sure)) {
		idem_end_async(c->parts->redis, store_of(c), a->key, a->plan,
			       stored, &err);
	}
	free(a);
	c->again = NULL;
}
