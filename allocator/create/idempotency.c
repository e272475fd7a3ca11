#include "allocator/create/idempotency.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/create/earlier_request.h"
#include "linkstore/block/lookup.h"
#include "linkstore/idempotency_record.h"

struct idempotency {
	struct redis_async *redis;
	const struct linkstore *store;
	int64_t ttl;
	bool is_repeatable;
	idempotency_fn *fn;
	void *arg;
	char key[IDEM_KEY_MAX];
	char fingerprint[IDEM_KEY_MAX];
	/* The text of our plan's record, or of a record that our plan may
	 * replace; "": there is none. */
	char plan[IDEM_RECORD_MAX];
	struct idem_record planned; /* the contents of `plan` */
	/* The record of an earlier request, Redis' clock when the record was
	 * read, and the link that the record names, which is being looked
	 * up. */
	struct idem_record found;
	int64_t found_at;
	struct link_target target;
};

/* --- keys and fingerprints ------------------------------------------------ */

bool idempotency_key_is_valid(struct http_slice key)
{
	for (size_t i = 0; i < key.len; i++) {
		if (key.data[i] <= ' ' || key.data[i] > '~')
			return false;
	}
	return key.len >= 1 && key.len <= IDEMPOTENCY_KEY_MAX;
}

static void hex_digest(crypto_generichash_state *state, char ret[IDEM_KEY_MAX])
{
	unsigned char digest[16];

	crypto_generichash_final(state, digest, sizeof(digest));
	sodium_bin2hex(ret, IDEM_KEY_MAX, digest, sizeof(digest));
}

static void add_to_digest(crypto_generichash_state *state, const void *data,
			  size_t len)
{
	crypto_generichash_update(state, data, len);
}

/* Each name is 128 bits of BLAKE2b: `key` of the account, the key and the
 * batch's line; `fingerprint` of the request's body. */
static void set_names(struct idempotency *i,
		      const struct idempotency_request *request)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, 16);
	add_to_digest(&state, request->account, strlen(request->account) + 1);
	add_to_digest(&state, request->key.data, request->key.len);
	add_to_digest(&state, "", 1);
	add_to_digest(&state, &request->line, sizeof(request->line));
	hex_digest(&state, i->key);
	crypto_generichash_init(&state, NULL, 0, 16);
	add_to_digest(&state, request->body.data, request->body.len);
	hex_digest(&state, i->fingerprint);
}

struct idempotency *idempotency_new(const struct idempotency_request *request,
				    struct redis_async *redis,
				    const struct linkstore *store,
				    idempotency_fn *fn, void *arg)
{
	struct idempotency *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->redis = redis;
	i->store = store;
	i->ttl = request->ttl;
	i->is_repeatable = request->is_repeatable;
	i->fn = fn;
	i->arg = arg;
	set_names(i, request);
	return i;
}

void idempotency_free(struct idempotency *i)
{
	free(i);
}

/* --- answers; each may free `i` ------------------------------------------- */

static void allow_request(struct idempotency *i)
{
	const struct idempotency_answer answer = {.outcome =
							  IDEMPOTENCY_PROCEED};

	i->fn(i->arg, &answer);
}

static void fail_request(struct idempotency *i, const struct error *err)
{
	const struct idempotency_answer answer = {.outcome = IDEMPOTENCY_FAILED,
						  .err = err};

	i->fn(i->arg, &answer);
}

static void refuse_request(struct idempotency *i, int status, bool temporary,
			   const char *detail)
{
	const struct idempotency_answer answer = {
		.outcome = IDEMPOTENCY_REFUSED,
		.status = status,
		.temporary = temporary,
		.detail = detail,
	};

	i->fn(i->arg, &answer);
}

static void refuse_ended(struct idempotency *i)
{
	refuse_request(
		i, 410, false,
		"the first request with this Idempotency-Key created a link, "
		"which has ended since; to make another, send another key");
}

static void refuse_doubtful(struct idempotency *i)
{
	refuse_request(
		i, 410, false,
		"the first request with this Idempotency-Key may have created "
		"a "
		"link, which would have ended by now; to make another, send "
		"another key");
}

/* --- the record of an earlier request ------------------------------------- */

/* Our plan will replace that of the earlier request. */
static void take_over(struct idempotency *i)
{
	strcpy(i->plan, i->found.text);
	allow_request(i);
}

/* Decides if the link that the record names is not there. */
static void judge_absence(struct idempotency *i)
{
	switch (earlier_request_judge(&i->found, i->found_at, i->ttl,
				      i->is_repeatable)) {
	case EARLIER_ENDED:
		refuse_ended(i);
		break;
	case EARLIER_UNDER_WAY:
		refuse_request(
			i, 409, true,
			"the first request with this Idempotency-Key is still "
			"under way");
		break;
	case EARLIER_DOUBTFUL:
		refuse_doubtful(i);
		break;
	case EARLIER_FAILED:
		take_over(i);
		break;
	}
}

/* If a plan is not done, it is unknown whether its link was reported.  The link
 * is reported again, since twice is better than never. */
static void replay_found_link(struct idempotency *i,
			      const struct link_answer *found)
{
	const struct idempotency_answer answer = {
		.outcome = IDEMPOTENCY_REPLAY,
		.target = &i->target,
		.link = found->link,
		.left = found->ttl_left,
		.reported = i->found.done,
	};

	if (!i->found.done)
		strcpy(i->plan, i->found.text);
	i->fn(i->arg, &answer);
}

static void on_looked_up(void *arg, const struct link_answer *answer,
			 const struct error *err)
{
	struct idempotency *i = arg;
	const Shortloop__Link *link = err ? NULL : answer->link;

	if (err)
		fail_request(i, err);
	else if (!link || link->link_id != i->found.link_id)
		judge_absence(i);
	else if (link->state == SHORTLOOP__LINK_STATE__LINK_DELETED)
		refuse_ended(i);
	else
		replay_found_link(i, answer);
}

static void evaluate_record(struct idempotency *i,
			    const struct idem_record *record, int64_t now)
{
	size_t len = strlen(record->code);
	struct error err;

	if (strcmp(record->fingerprint, i->fingerprint) != 0) {
		refuse_request(
			i, 422, false,
			"this Idempotency-Key was sent with another request "
			"before; send a new one");
		return;
	}
	i->found = *record;
	i->found_at = now;
	if (linkstore_lacks_key(i->store, record->code, len))
		refuse_request(i, 503, true,
			       "the code of the first request is of a key "
			       "version that "
			       "is not configured here");
	else if (!linkstore_locate(i->store, record->code, len, &i->target))
		judge_absence(i);
	else if (link_lookup_async(i->redis, &i->target, on_looked_up, i,
				   &err) < 0)
		fail_request(i, &err);
}

static void on_read(void *arg, const struct idem_record *record, int64_t now,
		    bool written, const struct error *err)
{
	struct idempotency *i = arg;

	(void)written;
	if (err)
		fail_request(i, err);
	else if (*record->text)
		evaluate_record(i, record, now);
	else
		allow_request(i);
}

void idempotency_read(struct idempotency *i)
{
	struct error err;

	if (idem_read_async(i->redis, i->store, i->key, on_read, i, &err) < 0)
		fail_request(i, &err);
}

/* --- the plan ------------------------------------------------------------- */

static void send_plan(struct idempotency *i);

static void on_planned(void *arg, const struct idem_record *record, int64_t now,
		       bool written, const struct error *err)
{
	struct idempotency *i = arg;
	struct idempotency_answer answer = {.outcome = IDEMPOTENCY_PLANNED};

	if (err) {
		fail_request(i, err);
	} else if (!written && *record->text) {
		/* Another request was faster; our plan was not written. */
		i->plan[0] = '\0';
		evaluate_record(i, record, now);
	} else if (!written) {
		i->plan[0] = '\0';
		send_plan(i);
	} else {
		strcpy(i->plan, record->text);
		answer.deadline = record->deadline;
		i->fn(i->arg, &answer);
	}
}

static void send_plan(struct idempotency *i)
{
	struct error err;

	if (idem_write_async(i->redis, i->store, i->key, i->plan, &i->planned,
			     on_planned, i, &err) < 0)
		fail_request(i, &err);
}

static struct idem_record record_of(const struct idempotency *i,
				    const char *code, uint64_t link_id,
				    bool done)
{
	struct idem_record record = {.done = done, .link_id = link_id};

	memcpy(record.fingerprint, i->fingerprint, sizeof(record.fingerprint));
	memcpy(record.code, code, strlen(code) + 1);
	return record;
}

void idempotency_plan(struct idempotency *i, const char *code, uint64_t link_id)
{
	i->planned = record_of(i, code, link_id, false);
	send_plan(i);
}

/* --- end ------------------------------------------------------------------ */

void idempotency_end(struct idempotency *i, bool stored)
{
	struct error ignored;

	if (*i->plan)
		idem_end_async(i->redis, i->store, i->key, i->plan, stored,
			       &ignored);
}

static void ignore_write_result(void *arg, const struct idem_record *record,
				int64_t now, bool written,
				const struct error *err)
{
	(void)arg;
	(void)record;
	(void)now;
	(void)written;
	(void)err;
}

void idempotency_note_done(struct idempotency *i, const char *code,
			   uint64_t link_id)
{
	const struct idem_record record = record_of(i, code, link_id, true);
	struct error ignored;

	idem_write_async(i->redis, i->store, i->key, i->plan, &record,
			 ignore_write_result, NULL, &ignored);
}
