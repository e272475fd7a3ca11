#include "aggregator/api/shares/share_desk.h"

#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "aggregator/api/shares/share_access.h"
#include "aggregator/api/shares/share_store.h"
#include "common/clock.h"
#include "common/http/problem_type.h"
#include "common/http/url.h"
#include "common/keys/key_check.h"

/* Buckets, and passwords that are kept. */
#define BUCKETS	  1024
#define PASSWORDS 1024
#define PROOF	  16 /* bytes of a kept password */
/* Wrong passwords of a share, at each aggregator. */
#define GUESSES	    10
#define GUESSES_PER CLOCK_MINUTE

struct share_desk {
	struct share_desk_uses uses;
	struct rate_limiter *requests[BUCKETS]; /* NULL: no limit */
	struct rate_limiter *guesses[BUCKETS];
	struct metric *limited, *guessed;
	unsigned char secret[crypto_generichash_KEYBYTES];
	/* One slow hash at a time: each takes 19 MiB. */
	pthread_mutex_t hashing;
	pthread_mutex_t lock; /* guards `right` */
	unsigned char right[PASSWORDS][PROOF];
};

/* --- headers -------------------------------------------------------------- */

bool share_is_presented(const struct http_request *req)
{
	return key_check_credentials(req, "Share").data != NULL;
}

static void reply_unauthorized(struct http_request *req, const char *type,
			       const char *detail)
{
	static const struct http_field fields[] = {
		{"WWW-Authenticate", "Share realm=\"shortloop\""}, {0}};

	http_reply_typed_problem(req, 401, type, fields, detail);
}

static void reply_unknown(struct http_request *req)
{
	reply_unauthorized(req, NULL,
			   "there is no such share: it has ended, was revoked, "
			   "or its key is gone");
}

/* Returns false if the password cannot be one. */
static bool read_password(struct http_slice text,
			  char ret[SHARE_PASSWORD_MAX + 1])
{
	size_t len = 0;

	while (text.len && len < SHARE_PASSWORD_MAX) {
		ret[len] = url_take_decoded(&text);
		if (!ret[len++])
			return false;
	}
	ret[len] = '\0';
	return !text.len;
}

bool share_desk_read(const struct share_desk *d, struct http_request *req,
		     struct share_entry *ret)
{
	struct http_slice token = key_check_credentials(req, "Share");
	struct http_slice password = http_header_get(req, "Share-Password");

	*ret = (struct share_entry){.refusal = SHARE_NOT_KNOWN};
	if (!d || !share_token_read(token, &ret->name)) {
		reply_unknown(req);
		return false;
	}
	if (read_password(password, ret->password))
		return true;
	http_reply_problem(req, 400, NULL,
			   "Share-Password: expected up to %d bytes, "
			   "percent-encoded",
			   SHARE_PASSWORD_MAX);
	return false;
}

/* --- passwords ------------------------------------------------------------ */

/* Returns the place of the password among those that are kept. */
static size_t prove_password(const struct share_desk *d,
			     const struct share_entry *entry,
			     unsigned char proof[PROOF])
{
	crypto_generichash_state state;
	size_t at;

	crypto_generichash_init(&state, d->secret, sizeof(d->secret), PROOF);
	crypto_generichash_update(&state,
				  (const unsigned char *)entry->share->password,
				  sizeof(entry->share->password));
	crypto_generichash_update(&state,
				  (const unsigned char *)entry->password,
				  strlen(entry->password));
	crypto_generichash_final(&state, proof, PROOF);
	memcpy(&at, proof, sizeof(at));
	return at % PASSWORDS;
}

static bool has_proof(struct share_desk *d, size_t at,
		      const unsigned char proof[PROOF])
{
	bool known;

	pthread_mutex_lock(&d->lock);
	known = sodium_memcmp(d->right[at], proof, PROOF) == 0;
	pthread_mutex_unlock(&d->lock);
	return known;
}

static void keep_proof(struct share_desk *d, size_t at,
		       const unsigned char proof[PROOF])
{
	pthread_mutex_lock(&d->lock);
	memcpy(d->right[at], proof, PROOF);
	pthread_mutex_unlock(&d->lock);
}

static size_t bucket_of(const struct share *share)
{
	return XXH3_64bits(share->id, strlen(share->id)) % BUCKETS;
}

/* A try costs a token before it is known whether it is right: tries at the same
 * time cost as many. */
static enum share_refusal check_password(struct share_desk *d,
					 struct share_entry *entry)
{
	const struct share *share = entry->share;
	unsigned char proof[PROOF];
	size_t at;
	bool right;

	if (!*share->password)
		return SHARE_ADMITTED;
	if (!*entry->password)
		return SHARE_NEEDS_PASSWORD;
	at = prove_password(d, entry, proof);
	if (has_proof(d, at, proof))
		return SHARE_ADMITTED;
	if (!rate_limiter_take(d->guesses[bucket_of(share)], 1,
			       clock_monotonic_ns(), &entry->wait_ms)) {
		metric_add(d->guessed, 1);
		return SHARE_GUESSED_TOO_OFTEN;
	}
	pthread_mutex_lock(&d->hashing);
	right = share_password_is(entry->password, share->password);
	pthread_mutex_unlock(&d->hashing);
	if (!right)
		return SHARE_NEEDS_PASSWORD;
	keep_proof(d, at, proof);
	return SHARE_ADMITTED;
}

/* --- admission ------------------------------------------------------------ */

static enum share_refusal find_share(struct share_desk *d,
				     struct share_entry *entry)
{
	enum share_refusal refusal;

	if (share_store_find(d->uses.redis, entry->name.id, &entry->share,
			     &entry->err) < 0)
		return SHARE_FAILED;
	if (!entry->share || !share_token_is_of(&entry->name, entry->share))
		return SHARE_NOT_KNOWN;
	refusal = check_password(d, entry);
	if (refusal != SHARE_ADMITTED)
		return refusal;
	if (share_access_narrow(&entry->access, entry->share, d->uses.keys,
				&entry->err) == 0)
		return SHARE_ADMITTED;
	return entry->err.code == ERROR_NOTFOUND ? SHARE_NOT_KNOWN
						 : SHARE_FAILED;
}

void share_desk_admit(struct share_desk *d, struct share_entry *entry)
{
	entry->refusal = find_share(d, entry);
	sodium_memzero(entry->password, sizeof(entry->password));
	if (entry->refusal != SHARE_ADMITTED)
		return;
	entry->access.who.limiter = d->requests[bucket_of(entry->share)];
	entry->access.who.limited = d->limited;
}

static void reply_too_many_guesses(struct http_request *req, int64_t wait_ms)
{
	char retry[24];
	const struct http_field later[] = {{"Retry-After", retry}, {0}};

	snprintf(retry, sizeof(retry), "%" PRId64,
		 clock_whole_seconds(wait_ms));
	http_reply_problem(req, 429, later,
			   "too many passwords of this share were wrong");
}

bool share_desk_take(struct http_request *req, const struct share_entry *entry)
{
	switch (entry->refusal) {
	case SHARE_ADMITTED:
		return key_check_take(req, &entry->access.who, 1);
	case SHARE_NOT_KNOWN:
		reply_unknown(req);
		return false;
	case SHARE_NEEDS_PASSWORD:
		reply_unauthorized(
			req, PROBLEM_SHARE_PASSWORD,
			"this share has a password, which is missing "
			"or wrong: Share-Password");
		return false;
	case SHARE_GUESSED_TOO_OFTEN:
		reply_too_many_guesses(req, entry->wait_ms);
		return false;
	case SHARE_FAILED:
		break;
	}
	return true;
}

void share_entry_release(struct share_entry *entry)
{
	share_free(entry->share);
	sodium_memzero(entry, sizeof(*entry));
}

/* -------------------------------------------------------------------------- */

static int make_buckets(struct share_desk *d, struct error *err)
{
	const struct rate_rule guesses = {
		.count = GUESSES, .period_ms = GUESSES_PER, .burst = GUESSES};
	struct rate_rule rule;

	if (aggregator_key_rate(&d->uses.config->aggregator, &rule, err) < 0)
		return -1;
	for (size_t i = 0; i < BUCKETS; i++) {
		d->guesses[i] = rate_limiter_new(&guesses, err);
		if (!d->guesses[i])
			return -1;
		d->requests[i] =
			rule.count ? rate_limiter_new(&rule, err) : NULL;
		if (rule.count && !d->requests[i])
			return -1;
	}
	return 0;
}

struct share_desk *share_desk_new(const struct share_desk_uses *uses,
				  struct error *err)
{
	struct share_desk *d = calloc(1, sizeof(*d));

	if (!d) {
		error_set_nomem(err);
		return NULL;
	}
	d->uses = *uses;
	pthread_mutex_init(&d->hashing, NULL);
	pthread_mutex_init(&d->lock, NULL);
	randombytes_buf(d->secret, sizeof(d->secret));
	d->limited = metrics_counter(
		uses->metrics, "shortloop_aggregator_shares_limited_total",
		NULL, "Requests refused because a share had used up its rate.");
	d->guessed = metrics_counter(
		uses->metrics, "shortloop_aggregator_shares_guessed_total",
		NULL,
		"Requests refused because a share had too many wrong "
		"passwords.");
	if (make_buckets(d, err) < 0) {
		share_desk_free(d);
		return NULL;
	}
	return d;
}

void share_desk_free(struct share_desk *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		rate_limiter_free(d->requests[i]);
		rate_limiter_free(d->guesses[i]);
	}
	pthread_mutex_destroy(&d->hashing);
	pthread_mutex_destroy(&d->lock);
	sodium_memzero(d->secret, sizeof(d->secret));
	free(d);
}
