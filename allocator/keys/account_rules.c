#include "allocator/keys/account_rules.h"

#include <stdio.h>
#include <string.h>

#include "common/config/value.h"
#include "common/keys/key_access.h"
#include "linkstore/config_check.h"

static const char blanks[] = " \t\r\n";

/* --- parsing -------------------------------------------------------------- */

static int read_bound(char *text, enum setting_type type,
		      struct quota_rule *rule, struct error *err)
{
	const struct setting number = {
		.type = type, .min = 1, .max = QUOTA_MAX};
	char *slash = strchr(text, '/');

	if (slash && !strcmp(slash, "/day"))
		rule->period = QUOTA_DAY;
	else if (slash && !strcmp(slash, "/month"))
		rule->period = QUOTA_MONTH;
	else
		return error_set(err, ERROR_INPUT,
				 "expected a number and /day or /month");
	*slash = '\0';
	if (value_parse(&number, text, &rule->max, err) == 0)
		return 0;
	err->code = ERROR_INPUT;
	return -1;
}

static int read_links(struct account_rules *rules, char *text,
		      const struct links_config *links, struct error *err)
{
	(void)links;
	return read_bound(text, SETTING_TYPE_INT, &rules->quota.links, err);
}

static int read_bytes(struct account_rules *rules, char *text,
		      const struct links_config *links, struct error *err)
{
	(void)links;
	return read_bound(text, SETTING_TYPE_SIZE, &rules->quota.bytes, err);
}

static bool is_class(const struct links_config *links, const char *name,
		     size_t len)
{
	const struct setting_strings *classes = &links->ttl_classes;

	for (size_t i = 0; i < classes->count; i++) {
		if (strlen(classes->items[i]) == len &&
		    !memcmp(classes->items[i], name, len))
			return true;
	}
	return false;
}

static bool is_space(const struct links_config *links, const char *name,
		     size_t len)
{
	char text[ACCOUNT_SPACES_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	return links_config_has_space(links, text);
}

/* Copies a list of known names into the `size` bytes of `ret`. */
static int read_list(char *ret, size_t size, const char *text,
		     const struct links_config *links,
		     bool (*is_there)(const struct links_config *links,
				      const char *name, size_t len),
		     const char *what, struct error *err)
{
	size_t len;

	if (strlen(text) >= size)
		return error_set(err, ERROR_INPUT, "expected a shorter list");
	strcpy(ret, text);
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (!len || (links && !is_there(links, text, len)))
			return error_set(err, ERROR_INPUT,
					 "'%.*s': expected some of %s, "
					 "separated by commas",
					 (int)(len > 40 ? 40 : len), text,
					 what);
		if (!text[len])
			return 0;
	}
}

static int read_ttl(struct account_rules *rules, char *text,
		    const struct links_config *links, struct error *err)
{
	return read_list(rules->ttl, sizeof(rules->ttl), text, links, is_class,
			 "links.ttl_classes", err);
}

static int read_spaces(struct account_rules *rules, char *text,
		       const struct links_config *links, struct error *err)
{
	return read_list(rules->spaces, sizeof(rules->spaces), text, links,
			 is_space, "links.spaces", err);
}

static const struct {
	const char *name; /* with its '=' */
	int (*read)(struct account_rules *rules, char *text,
		    const struct links_config *links, struct error *err);
} words[] = {
	{"links=", read_links},
	{"bytes=", read_bytes},
	{"ttl=", read_ttl},
	{"spaces=", read_spaces},
};
#define WORDS (sizeof(words) / sizeof(words[0]))

static int read_word(struct account_rules *rules, char *word,
		     const struct links_config *links, unsigned *given,
		     struct error *err)
{
	for (size_t i = 0; i < WORDS; i++) {
		size_t len = strlen(words[i].name);

		if (strncmp(word, words[i].name, len) != 0)
			continue;
		if (*given & 1U << i)
			return error_set(err, ERROR_INPUT, "%s is given twice",
					 words[i].name);
		*given |= 1U << i;
		if (words[i].read(rules, word + len, links, err) < 0)
			return error_wrap(err, "%s", words[i].name);
		return 0;
	}
	return error_set(err, ERROR_INPUT,
			 "expected nothing, links=N/month, bytes=N/month, "
			 "ttl=CLASS,... or spaces=NAME,... after the account");
}

int account_rules_parse(char *text, const struct links_config *links,
			struct account_rules *ret, struct error *err)
{
	unsigned given = 0;
	char *rest, *word;

	*ret = (struct account_rules){.ttl = "", .spaces = ""};
	for (word = strtok_r(text, blanks, &rest); word;
	     word = strtok_r(NULL, blanks, &rest)) {
		if (read_word(ret, word, links, &given, err) < 0)
			return -1;
	}
	return 0;
}

/* --- checks --------------------------------------------------------------- */

static bool is_equal(const struct quota_rule *a, const struct quota_rule *b)
{
	return a->max == b->max && a->period == b->period;
}

bool account_rules_equal(const struct account_rules *a,
			 const struct account_rules *b)
{
	return is_equal(&a->quota.links, &b->quota.links) &&
	       is_equal(&a->quota.bytes, &b->quota.bytes) &&
	       !strcmp(a->ttl, b->ttl) && !strcmp(a->spaces, b->spaces);
}

/* Returns whether the name is on the list; "" has all names. */
static bool list_has_name(const char *list, const char *name)
{
	size_t len = strlen(name), one;

	if (!*list)
		return true;
	for (;; list += one + 1) {
		one = strcspn(list, ",");
		if (one == len && !memcmp(list, name, len))
			return true;
		if (!list[one])
			return false;
	}
}

bool account_rules_allow_ttl(const struct account_rules *rules, const char *ttl)
{
	return !rules || list_has_name(rules->ttl, ttl);
}

bool account_rules_allow_space(const struct account_rules *rules,
			       const char *space)
{
	return !rules || list_has_name(rules->spaces, space);
}

bool account_rules_may_use_space(const struct api_key_info *key,
				 const char *space)
{
	return key_may_use_space(key, space) &&
	       account_rules_allow_space(key->rules, space);
}

/* --- metrics -------------------------------------------------------------- */

#define LABELS_MAX 128

static struct metric *register_one(struct metrics *m, bool counter,
				   const char *account, const char *quota)
{
	char labels[LABELS_MAX];

	snprintf(labels, sizeof(labels), "account=\"%s\",quota=\"%s\"", account,
		 quota);
	if (counter)
		return metrics_counter(
			m, "shortloop_allocator_quota_refused_total", labels,
			"Requests refused because of what an account may "
			"store");
	return metrics_gauge(m, "shortloop_allocator_quota_used", labels,
			     "What an account has used of its period's quota, "
			     "as this allocator saw it last");
}

void account_rules_register_metrics(struct account_rules *rules,
				    const char *account, struct metrics *m)
{
	if (rules->quota.links.max) {
		rules->links_refused = register_one(m, true, account, "links");
		rules->links_used = register_one(m, false, account, "links");
	}
	if (rules->quota.bytes.max) {
		rules->bytes_refused = register_one(m, true, account, "bytes");
		rules->bytes_used = register_one(m, false, account, "bytes");
	}
	if (*rules->ttl)
		rules->ttl_refused = register_one(m, true, account, "ttl");
	if (*rules->spaces)
		rules->spaces_refused =
			register_one(m, true, account, "spaces");
}

void account_rules_count_space(const struct api_key_info *key,
			       const char *space)
{
	if (!account_rules_allow_space(key->rules, space))
		metric_add(key->rules->spaces_refused, 1);
}
