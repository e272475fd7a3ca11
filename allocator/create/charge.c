#include "allocator/create/charge.h"

#include <inttypes.h>
#include <stdio.h>

#include "allocator/reserve.h"

/* --- what may be asked for ------------------------------------------------ */

bool charge_may_begin(struct creation *c, const struct api_key_info *caller)
{
	const struct link_class *ttl = c->order.request->fields.ttl;
	struct metric *denied = c->parts->metrics->denied;
	char text[ACCOUNT_TTL_MAX + API_KEY_NAME_MAX + 64];

	if (!key_owners_have(caller->owners, c->link.owner)) {
		creation_refuse(c, 403, denied,
				"owner: this API key may not write for it");
		return false;
	}
	if (!account_rules_allow_ttl(c->rules, ttl->name)) {
		metric_add(c->rules->ttl_refused, 1);
		snprintf(text, sizeof(text), "ttl: the account '%s' may use %s",
			 c->account, c->rules->ttl);
		creation_refuse(c, 403, denied, text);
		return false;
	}
	return true;
}

/* --- what there is room for ----------------------------------------------- */

static bool has_quota(const struct creation *c)
{
	return c->rules && quota_is_set(&c->rules->quota);
}

bool charge_might_refuse(const struct creation *c)
{
	return has_quota(c) || redis_reserve_is_reached(c->parts->reserve);
}

static void refuse_full(struct creation *c)
{
	creation_refuse(c, 507, c->parts->metrics->full,
			"Redis is nearly full: what it has left is kept for "
			"changes to links that are there; come back when links "
			"have expired, or ask its operator for more memory");
}

void charge_refusal(const struct quota_answer *answer,
		    const struct account_rules *rules, const char *account,
		    char text[CHARGE_TEXT_MAX])
{
	const struct quota_rule *rule =
		answer->bytes_lack ? &rules->quota.bytes : &rules->quota.links;

	metric_add(answer->bytes_lack ? rules->bytes_refused
				      : rules->links_refused,
		   1);
	snprintf(text, CHARGE_TEXT_MAX,
		 "the account '%s' may store %" PRId64 " %s a %s and has "
		 "stored %" PRId64 "; there is room again in %" PRId64 " s",
		 account, rule->max, answer->bytes_lack ? "bytes" : "links",
		 rule->period == QUOTA_DAY ? "day" : "month", answer->counted,
		 (answer->wait_ms + 999) / 1000);
}

static void on_taken(void *arg, const struct quota_answer *answer,
		     const struct error *err)
{
	struct creation *c = arg;
	char text[CHARGE_TEXT_MAX];

	if (err) {
		creation_fail(c, err);
	} else if (!answer->taken) {
		charge_refusal(answer, c->rules, c->account, text);
		c->retry_after = (unsigned)((answer->wait_ms + 999) / 1000);
		creation_refuse(c, 429, c->parts->metrics->denied, text);
	} else {
		c->charged = true;
		c->charge = *answer;
		metric_set(c->rules->links_used, answer->links);
		metric_set(c->rules->bytes_used, answer->bytes);
		creation_charged(c);
	}
}

void charge(struct creation *c)
{
	struct error err;

	if (redis_reserve_is_reached(c->parts->reserve)) {
		refuse_full(c);
		return;
	}
	if (c->charged || !has_quota(c)) {
		creation_charged(c);
		return;
	}
	c->bytes = (int64_t)shortloop__link__get_packed_size(&c->link);
	if (quota_take_async(c->parts->redis,
			     c->order.request->fields.space->store, c->account,
			     &c->rules->quota, 1, c->bytes, on_taken, c,
			     &err) < 0)
		creation_fail(c, &err);
}

void charge_end(struct creation *c)
{
	struct error ignored;

	/* Of an unsure one nobody knows whether its link is there. */
	if (c->charged && !c->stored && !c->unsure)
		quota_give_async(c->parts->redis,
				 c->order.request->fields.space->store,
				 c->account, &c->charge, 1, c->bytes, &ignored);
}
