#include "aggregator/api/polls.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/zone/buckets.h"
#include "common/clock.h"
#include "common/http/encoding.h"

/* The time that an ETag is kept.  What Redis alone knows of a link reaches the
 * archive later. */
#define KEPT (5 * CLOCK_MINUTE)
/* Each digest has WAYS places.  A page has three answers. */
#define SETS 1024
#define WAYS 4

struct known_answer {
	unsigned char digest[32];
	int64_t until; /* kept until then, clock_monotonic_ms; 0: none */
	char etag[sizeof(((struct call *)NULL)->etag)];
	bool csv;
	struct csv_quality quality;
	struct polled polled;
};

struct polls {
	struct metric *answered;
	pthread_mutex_t lock; /* protects what follows */
	struct known_answer known[SETS][WAYS];
};

struct polls *polls_new(struct metrics *metrics, struct error *err)
{
	struct polls *p = calloc(1, sizeof(*p));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->answered = metrics_counter(
		metrics, "shortloop_aggregator_polls_unchanged_total", NULL,
		"Polls answered 304 without a query.");
	return p;
}

void polls_free(struct polls *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void digest_bytes(EVP_MD_CTX *md, const void *data, size_t len)
{
	EVP_DigestUpdate(md, &len, sizeof(len));
	EVP_DigestUpdate(md, data, len);
}

/* The name alone does not do: another file of keys may give it other rights. */
static bool digest_caller(EVP_MD_CTX *md, const struct access *access)
{
	const char *name = access->who.name;
	bool all = access_sees_all(access);
	struct access_bounds bounds;
	struct error ignored = {0};
	int status = access_bounds_fill(&bounds, access, &ignored);

	digest_bytes(md, name, strlen(name));
	digest_bytes(md, &all, sizeof(all));
	digest_bytes(md, &bounds.has_owners, sizeof(bounds.has_owners));
	if (bounds.account)
		digest_bytes(md, bounds.account, strlen(bounds.account));
	digest_bytes(md, bounds.owners.data ? bounds.owners.data : "",
		     bounds.owners.len);
	access_bounds_release(&bounds);
	return status == 0;
}

/* The default range of a question moves with the quarter of an hour. */
void polls_begin(const struct call *call, const char *route, struct poll *ret)
{
	struct fresh fresh;
	EVP_MD_CTX *md;
	int64_t quarter;

	*ret = (struct poll){.known = false};
	if (!freshness_get(call->freshness, &fresh) || !fresh.version)
		return;
	quarter = fresh_now(&fresh) / (BUCKET_SLOT * CLOCK_SECOND);
	md = EVP_MD_CTX_new();
	if (md && EVP_DigestInit_ex(md, EVP_sha256(), NULL)) {
		digest_bytes(md, &fresh.version, sizeof(fresh.version));
		digest_bytes(md, &quarter, sizeof(quarter));
		digest_bytes(md, route, strlen(route));
		digest_bytes(md, call->query.data, call->query.len);
		ret->known = digest_caller(md, call->access) &&
			     EVP_DigestFinal_ex(md, ret->digest, NULL);
	}
	EVP_MD_CTX_free(md);
}

static struct known_answer *set_of(struct polls *p, const struct poll *poll)
{
	unsigned set = poll->digest[0] | (unsigned)poll->digest[1] << 8;

	return p->known[set % SETS];
}

static bool find_known(struct polls *p, const struct poll *poll,
		       struct known_answer *ret)
{
	const struct known_answer *set = set_of(p, poll);
	int64_t now = clock_monotonic_ms();
	bool found = false;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < WAYS && !found; i++) {
		found = now < set[i].until &&
			!memcmp(set[i].digest, poll->digest,
				sizeof(poll->digest));
		if (found)
			*ret = set[i];
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

/* Sets the headers that the watermark changes.  Returns false if they cannot be
 * told from memory. */
static bool renew_completeness(struct call *call, const struct polled *polled)
{
	struct error ignored = {0};
	struct fresh fresh;
	int64_t until;
	bool waits = false;

	if (!freshness_get(call->freshness, &fresh) ||
	    freshness_waits(call->freshness, call->ch, polled->from, polled->to,
			    &waits, &ignored) < 0)
		return false;
	until = polled->of_rows ? fresh_complete_until(
					  &fresh, &call->config->aggregator)
				: fresh.published.complete_until;
	call_set_completeness(call, until, polled->until,
			      !waits && until >= polled->until * CLOCK_SECOND,
			      waits);
	return true;
}

bool polls_answer(struct polls *p, const struct poll *poll,
		  struct http_slice if_none_match, struct call *call)
{
	struct known_answer known;

	if (!poll->known || !if_none_match.len ||
	    !find_known(p, poll, &known) ||
	    !encoding_etag_matches(if_none_match, known.etag) ||
	    !renew_completeness(call, &known.polled))
		return false;
	memcpy(call->etag, known.etag, sizeof(call->etag));
	call->csv = known.csv;
	call->quality = known.quality;
	call->polled = known.polled;
	metric_add(p->answered, 1);
	return true;
}

/* Takes the place of the same question, or of the one that is kept for the
 * shortest time. */
void polls_keep(struct polls *p, const struct poll *poll,
		const struct call *call)
{
	struct known_answer *set = set_of(p, poll), *place = set;

	if (!poll->known || !call->polled.may_be)
		return;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < WAYS; i++) {
		if (!memcmp(set[i].digest, poll->digest,
			    sizeof(poll->digest))) {
			place = &set[i];
			break;
		}
		if (set[i].until < place->until)
			place = &set[i];
	}
	*place = (struct known_answer){
		.until = clock_monotonic_ms() + KEPT,
		.csv = call->csv,
		.quality = call->quality,
		.polled = call->polled,
	};
	memcpy(place->digest, poll->digest, sizeof(place->digest));
	memcpy(place->etag, call->etag, sizeof(place->etag));
	pthread_mutex_unlock(&p->lock);
}
