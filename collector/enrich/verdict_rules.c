#include "collector/enrich/verdict_rules.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/identity.h"
#include "common/buf.h"
#include "common/drop_const.h"
#include "common/ip.h"
#include "common/read_file.h"
#include "common/yaml_json.h"

/* The prefix distinguishes the operator's reasons from built-in ones. */
#define REASON_PREFIX "rule: "

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

void verdict_rules_free(struct verdict_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		struct verdict_rule *r = &rules->items[i];

		free(drop_const(r->verdict.reason));
		free_texts(r->accounts, r->account_count);
		free_texts(r->owners, r->owner_count);
		free_texts(r->agents, r->agent_count);
		free(r->asns);
		free(r->networks);
	}
	free(rules->items);
	free(rules);
}

/* --- load ----------------------------------------------------------------- */

struct rule_reading {
	const char *store_ip;
	struct verdict_rule *rule;
};

/* Reads one value of a condition into the rule. */
typedef int take_fn(struct rule_reading *r, const json_t *value,
		    struct error *err);

static int take_text(char **texts, size_t *count, const json_t *value,
		     struct error *err)
{
	const char *text = json_string_value(value);

	if (!text || !*text)
		return error_set(err, ERROR_CONFIG, "expected a text");
	texts[*count] = strdup(text);
	if (!texts[*count])
		return error_set_nomem(err);
	(*count)++;
	return 0;
}

static int take_account(struct rule_reading *r, const json_t *value,
			struct error *err)
{
	return take_text(r->rule->accounts, &r->rule->account_count, value,
			 err);
}

static int take_owner(struct rule_reading *r, const json_t *value,
		      struct error *err)
{
	return take_text(r->rule->owners, &r->rule->owner_count, value, err);
}

static int take_agent(struct rule_reading *r, const json_t *value,
		      struct error *err)
{
	return take_text(r->rule->agents, &r->rule->agent_count, value, err);
}

static int take_asn(struct rule_reading *r, const json_t *value,
		    struct error *err)
{
	json_int_t asn = json_integer_value(value);

	if (!json_is_integer(value) || asn < 1 || asn > UINT32_MAX)
		return error_set(err, ERROR_CONFIG,
				 "expected a number from 1 to %" PRIu32,
				 UINT32_MAX);
	r->rule->asns[r->rule->asn_count++] = (uint32_t)asn;
	return 0;
}

/* Parses "203.0.113.0/24" as an address of 16 bytes and the length of its
 * prefix; an address alone is a network of one. */
static int parse_network(const char *text, uint8_t ip[16], unsigned *ret_bits)
{
	const char *slash = strchrnul(text, '/');
	char address[INET6_ADDRSTRLEN];
	uint8_t bytes[16];
	char *end;
	size_t len;
	unsigned long bits;

	if ((size_t)(slash - text) >= sizeof(address))
		return -1;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	len = ip_parse(address, bytes);
	if (!len)
		return -1;
	bits = len * 8;
	if (*slash) {
		bits = strtoul(slash + 1, &end, 10);
		if (!isdigit((unsigned char)slash[1]) || *end || bits > len * 8)
			return -1;
	}
	memset(ip, 0, 16);
	if (len == 4)
		ip[10] = ip[11] = 0xff;
	memcpy(ip + 16 - len, bytes, len);
	*ret_bits = (unsigned)bits + 8 * (unsigned)(16 - len);
	return 0;
}

static void widen_network(struct verdict_network *n, unsigned bits)
{
	for (unsigned bit = bits; bit < 128; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		n->first[bit / 8] &= (uint8_t)~mask;
		n->last[bit / 8] |= mask;
	}
}

/* Returns how many bits of the network's addresses are stored. */
static unsigned stored_bits(const struct verdict_network *n,
			    const char *store_ip)
{
	uint8_t probe[16];
	unsigned bytes = sizeof(probe);

	if (!strcmp(store_ip, "whole"))
		return 128;
	if (strcmp(store_ip, "truncated") != 0)
		return 0;
	/* The bits of an all-ones address that truncation keeps are the stored
	 * ones. */
	memcpy(probe, n->first, sizeof(probe));
	for (size_t i = ip_is_mapped(probe) ? 12 : 3; i < sizeof(probe); i++)
		probe[i] = 0xff;
	identity_truncate(probe);
	while (bytes && !probe[bytes - 1])
		bytes--;
	return 8 * bytes;
}

static int take_network(struct rule_reading *r, const json_t *value,
			struct error *err)
{
	struct verdict_rule *rule = r->rule;
	struct verdict_network *n = &rule->networks[rule->network_count];
	const char *text = json_string_value(value);
	unsigned bits;

	if (!text || parse_network(text, n->first, &bits) < 0)
		return error_set(err, ERROR_CONFIG,
				 "expected a network such as 203.0.113.0/24 "
				 "or 2001:db8::/32");
	memcpy(n->last, n->first, sizeof(n->last));
	widen_network(n, bits);
	/* If nothing is stored, even the network of all addresses is too
	 * narrow. */
	if (!stored_bits(n, r->store_ip) || bits > stored_bits(n, r->store_ip))
		return error_set(err, ERROR_CONFIG,
				 "%s is narrower than what is stored of an "
				 "address (collector.store_ip: %s)",
				 text, r->store_ip);
	rule->network_count++;
	return 0;
}

/* Reads one value or a list of values. */
static int read_values(struct rule_reading *r, const json_t *value,
		       take_fn *take, struct error *err)
{
	size_t count = json_array_size(value);

	if (!json_is_array(value))
		return take(r, value, err);
	if (!count || count > VERDICT_RULE_VALUES_MAX)
		return error_set(err, ERROR_CONFIG, "expected 1 to %d values",
				 VERDICT_RULE_VALUES_MAX);
	for (size_t i = 0; i < count; i++)
		if (take(r, json_array_get(value, i), err) < 0)
			return -1;
	return 0;
}

static int read_verdict(struct rule_reading *r, const json_t *value,
			struct error *err)
{
	const char *text = json_string_value(value);

	for (int kind = 0; text && kind < VERDICT_KIND_COUNT; kind++) {
		/* A prefetch can be recognised only from the request. */
		if (kind == VERDICT_PREFETCH ||
		    strcmp(text, verdict_name((enum verdict_kind)kind)) != 0)
			continue;
		r->rule->verdict.kind = (enum verdict_kind)kind;
		return 0;
	}
	return error_set(err, ERROR_CONFIG,
			 "expected human, bot, preview, monitor or scanner");
}

static int read_reason(struct rule_reading *r, const json_t *value,
		       struct error *err)
{
	const char *text = json_string_value(value);
	size_t len = text ? strlen(text) : 0;
	char *reason;

	if (!len || len > VERDICT_RULE_REASON_MAX)
		return error_set(err, ERROR_CONFIG,
				 "expected a text of 1 to %d bytes",
				 VERDICT_RULE_REASON_MAX);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return error_set(err, ERROR_CONFIG,
					 "expected a text without control "
					 "characters");
	if (asprintf(&reason, REASON_PREFIX "%s", text) < 0)
		return error_set_nomem(err);
	r->rule->verdict.reason = reason;
	return 0;
}

static int read_account(struct rule_reading *r, const json_t *value,
			struct error *err)
{
	return read_values(r, value, take_account, err);
}

static int read_owner(struct rule_reading *r, const json_t *value,
		      struct error *err)
{
	return read_values(r, value, take_owner, err);
}

static int read_asn(struct rule_reading *r, const json_t *value,
		    struct error *err)
{
	return read_values(r, value, take_asn, err);
}

static int read_network(struct rule_reading *r, const json_t *value,
			struct error *err)
{
	return read_values(r, value, take_network, err);
}

static int read_agent(struct rule_reading *r, const json_t *value,
		      struct error *err)
{
	return read_values(r, value, take_agent, err);
}

static const struct member {
	const char *name;
	take_fn *read;
	bool needed;
} members[] = {
	{"verdict", read_verdict, true},  {"reason", read_reason, true},
	{"account", read_account, false}, {"owner", read_owner, false},
	{"asn", read_asn, false},	  {"network", read_network, false},
	{"agent", read_agent, false},
};
#define MEMBER_COUNT (sizeof(members) / sizeof(*members))

static const struct member *find_member(const char *name)
{
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		if (!strcmp(members[i].name, name))
			return &members[i];
	return NULL;
}

static int make_room(struct verdict_rule *rule, struct error *err)
{
	rule->accounts = calloc(VERDICT_RULE_VALUES_MAX, sizeof(char *));
	rule->owners = calloc(VERDICT_RULE_VALUES_MAX, sizeof(char *));
	rule->agents = calloc(VERDICT_RULE_VALUES_MAX, sizeof(char *));
	rule->asns = calloc(VERDICT_RULE_VALUES_MAX, sizeof(*rule->asns));
	rule->networks =
		calloc(VERDICT_RULE_VALUES_MAX, sizeof(*rule->networks));
	return rule->accounts && rule->owners && rule->agents && rule->asns &&
			       rule->networks
		       ? 0
		       : error_set_nomem(err);
}

static int read_rule(struct rule_reading *r, json_t *object, struct error *err)
{
	const struct member *member;
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return error_set(err, ERROR_CONFIG,
				 "expected names and values");
	if (make_room(r->rule, err) < 0)
		return -1;
	json_object_foreach(object, name, value)
	{
		member = find_member(name);
		if (!member)
			return error_set(
				err, ERROR_CONFIG,
				"%.40s: not known; expected verdict, "
				"reason, account, owner, asn, network and "
				"agent",
				name);
		if (member->read(r, value, err) < 0)
			return error_wrap(err, "%s", name);
	}
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		if (members[i].needed &&
		    !json_object_get(object, members[i].name))
			return error_set(err, ERROR_CONFIG, "%s is missing",
					 members[i].name);
	if (r->rule->owner_count && r->rule->account_count != 1)
		return error_set(err, ERROR_CONFIG,
				 "owner: an owner belongs to an account: "
				 "expected one account beside it");
	if (r->rule->asn_count || r->rule->network_count ||
	    r->rule->agent_count)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "expected asn, network or agent: without, it takes "
			 "everything");
}

static int read_rules(struct verdict_rules *rules, const json_t *list,
		      const char *store_ip, struct error *err)
{
	size_t count = json_array_size(list);

	if (json_is_null(list))
		return 0;
	if (!json_is_array(list) || count > VERDICT_RULES_MAX)
		return error_set(err, ERROR_CONFIG,
				 "expected a list of at most %d rules",
				 VERDICT_RULES_MAX);
	rules->items = calloc(count + 1, sizeof(*rules->items));
	if (!rules->items)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		struct rule_reading r = {store_ip, &rules->items[i]};

		rules->count++;
		if (read_rule(&r, json_array_get(list, i), err) < 0)
			return error_wrap(err, "rule %zu", i + 1);
		rules->by_asn |= r.rule->asn_count > 0;
	}
	return 0;
}

static int read_text(const char *path, struct buf *text, struct error *err)
{
	struct error why;

	if (read_file(path, VERDICT_RULES_FILE_MAX, text, &why) < 0)
		return error_set(err, ERROR_CONFIG, "cannot be read: %s",
				 why.text);
	if (text->len > VERDICT_RULES_FILE_MAX)
		return error_set(err, ERROR_CONFIG, "is longer than %d bytes",
				 VERDICT_RULES_FILE_MAX);
	if (!buf_cstr(text))
		return error_set_nomem(err);
	if (strlen(text->data) != text->len)
		return error_set(err, ERROR_CONFIG, "has a zero byte");
	return 0;
}

static int load_rules_file(struct verdict_rules *rules, const char *path,
			   const char *store_ip, struct error *err)
{
	struct buf yaml = {0}, text = {0};
	json_t *list = NULL;
	int status = read_text(path, &yaml, err);

	if (status == 0)
		status = yaml_to_json(yaml.data, &text, err);
	if (status == 0 && !buf_cstr(&text))
		status = error_set_nomem(err);
	if (status == 0) {
		list = json_loads(text.data, JSON_DECODE_ANY, NULL);
		status = read_rules(rules, list, store_ip, err);
	}
	json_decref(list);
	buf_free(&text);
	buf_free(&yaml);
	return status;
}

struct verdict_rules *verdict_rules_load(const char *path, const char *store_ip,
					 struct error *err)
{
	struct verdict_rules *rules = calloc(1, sizeof(*rules));

	if (!rules) {
		error_set_nomem(err);
		return NULL;
	}
	if (!path || !*path || load_rules_file(rules, path, store_ip, err) == 0)
		return rules;
	verdict_rules_free(rules);
	error_wrap(err, "%s", path);
	err->code = ERROR_CONFIG;
	return NULL;
}

/* --- queries -------------------------------------------------------------- */

static bool has_text(const char *agent, size_t len, const char *text)
{
	size_t need = strlen(text);

	for (size_t i = 0; i + need <= len; i++)
		if (!strncasecmp(agent + i, text, need))
			return true;
	return false;
}

static bool takes_agent(const struct verdict_rule *r, const char *agent,
			size_t len)
{
	for (size_t i = 0; i < r->agent_count; i++)
		if (has_text(agent, len, r->agents[i]))
			return true;
	return !r->agent_count;
}

static bool takes_name(char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return !count;
}

static bool takes_asn(const struct verdict_rule *r, uint32_t asn)
{
	for (size_t i = 0; i < r->asn_count; i++)
		if (r->asns[i] == asn)
			return true;
	return !r->asn_count;
}

static bool takes_ip(const struct verdict_rule *r, const uint8_t *ip)
{
	for (size_t i = 0; i < r->network_count; i++)
		if (memcmp(ip, r->networks[i].first, 16) >= 0 &&
		    memcmp(ip, r->networks[i].last, 16) <= 0)
			return true;
	return !r->network_count;
}

const struct verdict_rule *verdict_rules_find(const struct verdict_rules *rules,
					      const struct verdict_subject *s)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct verdict_rule *r = &rules->items[i];

		if (takes_name(r->accounts, r->account_count, s->account) &&
		    takes_name(r->owners, r->owner_count, s->owner) &&
		    takes_asn(r, s->asn) && takes_ip(r, s->ip) &&
		    takes_agent(r, s->agent, s->agent_len))
			return r;
	}
	return NULL;
}

uint64_t verdict_rules_of_agent(const struct verdict_rules *rules,
				const char *agent, size_t len)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < rules->count; i++)
		if (takes_agent(&rules->items[i], agent, len))
			bits |= UINT64_C(1) << i;
	return bits;
}

const char *verdict_rule_reason(const struct verdict_rule *rule)
{
	return rule->verdict.reason + strlen(REASON_PREFIX);
}

struct verdict verdict_of_rule(const struct verdict_rule *rule,
			       const char *purpose, bool head)
{
	return verdict_of_request(purpose, head, rule->verdict);
}
