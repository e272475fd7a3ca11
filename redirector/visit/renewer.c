#include "redirector/visit/renewer.h"

#include <stdlib.h>

#include "linkstore/block/renew.h"
#include "redirector/renewals/renewals_report.h"
#include "redirector/visit/cache_entry.h"
#include "redirector/visit/renew_throttle.h"

/* A renewal that was sent to Redis. */
struct renewal {
	struct renewer *by;
	uint64_t link_id;
	uint32_t version;
};

/* A query whether a link is due to be renewed. */
struct renewal_check {
	struct renewer *by;
	struct link_target target;
};

static void renewal_failed(struct renewer *r, uint64_t link_id)
{
	redirector_count(r->counters, COUNTER_RENEWALS_FAILED);
	renew_throttle_reset(r->redirector->renewals, link_id);
}

static void note_renewal(const struct renewal *sent,
			 const struct link_renewal *done)
{
	struct renewer *r = sent->by;

	redirector_count(r->counters, COUNTER_RENEWALS);
	if (r->writer && done->end)
		renewals_writer_add(r->writer, sent->link_id, sent->version,
				    done->end);
}

static void on_renewed(void *arg, const struct link_renewal *done,
		       const struct error *err)
{
	struct renewal *sent = arg;

	if (err)
		renewal_failed(sent->by, sent->link_id);
	else
		note_renewal(sent, done);
	free(sent);
}

void renewer_renew(struct renewer *r, const struct link_target *target,
		   const Shortloop__Link *link)
{
	struct error ignored;
	struct renewal *sent;

	if (!renew_throttle_admit(
		    r->redirector->renewals, link->link_id,
		    loop_now_ms(r->loop),
		    cache_entry_renew_interval(r->redirector->store, link)))
		return;
	sent = malloc(sizeof(*sent));
	if (sent) {
		*sent = (struct renewal){r, link->link_id, link->version};
		if (link_renew_async(r->redis, target, link, on_renewed, sent,
				     &ignored) == 0)
			return;
	}
	free(sent);
	renewal_failed(r, link->link_id);
}

static void on_checked(void *arg, const struct link_answer *answer,
		       const struct error *err)
{
	struct renewal_check *c = arg;

	if (!err && answer->renew)
		renewer_renew(c->by, &c->target, answer->link);
	free(c);
}

void renewer_check(struct renewer *r, const struct link_target *target)
{
	struct renewal_check *c = malloc(sizeof(*c));
	struct error ignored;

	if (c) {
		*c = (struct renewal_check){r, *target};
		if (link_lookup_async(r->redis, &c->target, on_checked, c,
				      &ignored) == 0)
			return;
	}
	free(c);
	redirector_count(r->counters, COUNTER_RENEWALS_FAILED);
}
