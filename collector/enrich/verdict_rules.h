/*
 * verdict_rules.h - rules of the operator's own for verdicts: a YAML file, a
 * list of
 *
 *	- verdict: bot			human, bot, preview, monitor or scanner
 *	  reason: rented servers	verdict_reason is "rule: rented servers"
 *	  owner: [ann, bob]		each of these may be left out, but not
 *	  asn: 64500			all of asn, network and agent
 *	  network: 203.0.113.0/24
 *	  agent: headless		the agent has this text, in any case
 *
 * A rule takes a click if each of its conditions has a value that holds.  All
 * of them can be asked of a stored row, so that `collector rescore` finds what
 * was found when the click came.
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
	VERDICT_RULE_VALUES_MAX = 100,	/* of one condition */
	VERDICT_RULE_REASON_MAX = 64,	/* bytes */
	VERDICT_RULES_FILE_MAX = 16384, /* bytes */
};

/* From the first address to the last, as the column `ip` has them. */
struct verdict_network {
	uint8_t first[16], last[16];
};

/* Conditions that are empty hold always. */
struct verdict_rule {
	struct verdict verdict;
	char **owners, **agents;
	uint32_t *asns;
	struct verdict_network *networks;
	size_t owner_count, agent_count, asn_count, network_count;
};

struct verdict_rules {
	struct verdict_rule *items;
	size_t count;
	bool by_asn; /* some rule asks for it */
};

/*
 * Reads the file; NULL or "": there are no rules.  `store_ip` is that setting:
 * a network that is narrower than what is stored of an address could not be
 * asked for later, and is refused.  A bad file is ERROR_CONFIG, which names it
 * and the rule.
 */
struct verdict_rules *verdict_rules_load(const char *path, const char *store_ip,
					 struct error *err);
void verdict_rules_free(struct verdict_rules *rules); /* NULL accepted */

struct verdict_subject {
	const char *owner, *agent;
	size_t agent_len;
	uint32_t asn;
	const uint8_t *ip; /* as stored, 16 bytes */
};

/* The first rule that takes the click; NULL: none does. */
const struct verdict_rule *verdict_rules_find(const struct verdict_rules *rules,
					      const struct verdict_subject *s);

/* Bit i: rule i takes clicks of that user agent, if its other conditions hold.
 */
uint64_t verdict_rules_of_agent(const struct verdict_rules *rules,
				const char *agent, size_t len);

/* As it stands in the file. */
const char *verdict_rule_reason(const struct verdict_rule *rule);

/* What a click that a rule takes is: a person may still fetch ahead. */
struct verdict verdict_of_rule(const struct verdict_rule *rule,
			       const char *purpose, bool head);

#endif
