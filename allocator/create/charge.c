#include "allocator/create/charge.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clock.h"

bool charge_has_quota(const struct charge *charge)
{
	return charge->rules && quota_is_set(&charge->rules->quota);
}

int charge_take(struct charge *charge, struct redis_async *redis,
		const struct linkstore *store, int64_t bytes, quota_fn *fn,
		void *arg, struct error *err)
{
	charge->bytes = bytes;
	return quota_take_async(redis, store, charge->account,
				&charge->rules->quota, 1, bytes, fn, arg, err);
}

void charge_set_taken(struct charge *charge, const struct quota_answer *answer)
{
	charge->taken = true;
	charge->answer = *answer;
	metric_set(charge->rules->links_used, answer->links);
	metric_set(charge->rules->bytes_used, answer->bytes);
}

void charge_give_back(const struct charge *charge, struct redis_async *redis,
		      const struct linkstore *store)
{
	struct error ignored;

	if (charge->taken)
		quota_give_async(redis, store, charge->account, &charge->answer,
				 1, charge->bytes, &ignored);
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
		 quota_period_name(rule->period), answer->counted,
		 clock_whole_seconds(answer->wait_ms));
}
