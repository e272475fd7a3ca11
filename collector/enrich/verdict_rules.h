/*
 * verdict_rules.h - the operator's own rules for verdicts: a YAML file, a list
 * of
 *
 *	- verdict: bot			human, bot, preview, monitor or scanner
 *	  reason: rented servers	verdict_reason is "rule: rented servers"
 *	  account: acme			each of these may be left out, but not
 *	  owner: [ann, bob]		all of asn, network and agent; owners
 *are asn: 64500			those of one account network:
 *203.0.113.0/24 agent: headless		the agent has this text, in any
 *case
 *
 * A rule matches a click if each of its conditions has a value that matches.
 * A stored row has the data for all conditions, so that `collector rescore`
 * finds the same result as when the click arrived.
 */
#ifndef COLLECTOR_ENRICH_VERDICT_RULES_H
#define COLLECTOR_ENRICH_VERDICT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/agent/verdict.h"
#include "common/error.h"

enum {
	VERDICT_RULES_MAX = 64,
	VERDICT_RULE_VALUES_MAX = 100,	/* per condition */
	VERDICT_RULE_REASON_MAX = 64,	/* bytes */
	VERDICT_RULES_FILE_MAX = 16384, /* bytes */
};

/* The first and the last address, in the form of the column `ip`. */
struct verdict_network {
	uint8_t first[16], last[16];
};

/* Empty conditions always hold. */
struct verdict_rule {
	struct verdict verdict;
	char **accounts, **owners, **agents;
	uint32_t *asns;
	struct verdict_network *networks;
	size_t account_count, owner_count, agent_count, asn_count,
		network_count;
};

struct verdict_rules {
	struct verdict_rule *items;
	size_t count;
	bool by_asn; /* a rule has this condition */
};

/*
 * Reads the file; NULL or "": there are no rules.  `store_ip` is that setting:
 * a network narrower than the stored part of an address is rejected, since it
 * could not be checked later.  An invalid file is ERROR_CONFIG, which names it
 * and the rule.
 */
struct verdict_rules *verdict_rules_load(const char *path, const char *store_ip,
					 struct error *err);
void verdict_rules_free(struct verdict_rules *rules); /* NULL accepted */

struct verdict_subject {
	const char *account, *owner, *agent;
	size_t agent_len;
	uint32_t asn;
	const uint8_t *ip; /* the stored form, 16 bytes */
};

/* Returns the first rule that matches the click; NULL: none. */
const struct verdict_rule *verdict_rules_find(const struct verdict_rules *rules,
					      const struct verdict_subject *s);

/* Bit i: rule i matches clicks of that user agent, if its other conditions
 * hold. */
uint64_t verdict_rules_of_agent(const struct verdict_rules *rules,
				const char *agent, size_t len);

/* Returns the reason as written in the file. */
const char *verdict_rule_reason(const struct verdict_rule *rule);

/* Returns the verdict of a click that a rule matches: a person's click may
 * still be a prefetch. */
struct verdict verdict_of_rule(const struct verdict_rule *rule,
			       const char *purpose, bool head);

#endif
