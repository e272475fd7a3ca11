#include "linkstore/denied_set.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/denied_hosts.h"

struct denied_set {
	uint64_t revision;
	char **domains; /* sorted, each once */
	size_t count;
	struct denied_page seen;       /* what Redis had at the last update */
	char damaged[DOMAIN_TEXT_MAX]; /* one that cannot be read, or "" */
};

/* A change whose text the page owns; a domain that is kept moves to the set. */
struct set_change {
	char *domain;
	bool lifted;
};

struct set_page {
	struct denied_set *set;
	struct set_change changes[DENIED_PAGE];
	size_t count;
};

struct denied_set *denied_set_new(struct error *err)
{
	struct denied_set *set = calloc(1, sizeof(*set));

	if (!set)
		error_set_nomem(err);
	return set;
}

void denied_set_free(struct denied_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		free(set->domains[i]);
	free(set->domains);
	free(set);
}

size_t denied_set_count(const struct denied_set *set)
{
	return set->count;
}

uint64_t denied_set_revision(const struct denied_set *set)
{
	return set->revision;
}

struct domain_list *denied_set_list(const struct denied_set *set,
				    struct error *err)
{
	return domain_list_of((const char *const *)set->domains, set->count,
			      err);
}

/* --- a page of changes ---------------------------------------------------- */

static bool is_domain(const char *text)
{
	struct listed_domain domain;
	struct error ignored;

	return listed_domain_parse(text, strlen(text), &domain, &ignored) == 0;
}

/* A host that cannot be read is left out, so that it hinders no other one;
 * denied_set_compare reports it. */
static int note_change(void *arg, const struct denied_change *change,
		       struct error *err)
{
	struct set_page *page = arg;
	struct set_change *c;

	if (!is_domain(change->domain)) {
		snprintf(page->set->damaged, DOMAIN_TEXT_MAX, "%s",
			 change->domain);
		return 0;
	}
	if (page->count == DENIED_PAGE)
		return error_set(err, ERROR_PROTOCOL,
				 "Redis sent more denied hosts than requested");
	c = &page->changes[page->count];
	c->lifted = change->value_len == 0;
	c->domain = strdup(change->domain);
	if (!c->domain)
		return error_set_nomem(err);
	page->count++;
	return 0;
}

static int compare_changes(const void *a, const void *b)
{
	return strcmp(((const struct set_change *)a)->domain,
		      ((const struct set_change *)b)->domain);
}

/* Moves the smallest of both to `ret`; a change replaces its domain. */
static void merge_page(struct denied_set *set, struct set_page *page,
		       char **ret, size_t *ret_count)
{
	size_t i = 0, n = 0;

	for (size_t c = 0; c < page->count; c++) {
		struct set_change *change = &page->changes[c];

		while (i < set->count &&
		       strcmp(set->domains[i], change->domain) < 0)
			ret[n++] = set->domains[i++];
		if (i < set->count && !strcmp(set->domains[i], change->domain))
			free(set->domains[i++]);
		if (change->lifted)
			continue;
		ret[n++] = change->domain;
		change->domain = NULL;
	}
	while (i < set->count)
		ret[n++] = set->domains[i++];
	*ret_count = n;
}

static int apply_page(struct denied_set *set, struct set_page *page,
		      struct error *err)
{
	char **domains = calloc(set->count + page->count + 1, sizeof(char *));

	if (!domains)
		return error_set_nomem(err);
	qsort(page->changes, page->count, sizeof(*page->changes),
	      compare_changes);
	merge_page(set, page, domains, &set->count);
	free(set->domains);
	set->domains = domains;
	return 0;
}

static void release_page(struct set_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		free(page->changes[i].domain);
	free(page);
}

static int take_page(struct denied_set *set, struct redis *redis,
		     const struct linkstore *store, struct error *err)
{
	struct set_page *page = calloc(1, sizeof(*page));
	int status;

	if (!page)
		return error_set_nomem(err);
	page->set = set;
	status = denied_hosts_read(redis, store, set->revision, note_change,
				   page, &set->seen, err);
	if (status == 0 && page->count)
		status = apply_page(set, page, err);
	if (status == 0)
		set->revision = set->seen.last;
	release_page(page);
	return status;
}

int denied_set_update(struct denied_set *set, struct redis *redis,
		      const struct linkstore *store, struct error *err)
{
	int status;

	do
		status = take_page(set, redis, store, err);
	while (status == 0 && set->seen.changes == DENIED_PAGE);
	return status;
}

int denied_set_compare(const struct denied_set *set, struct error *err)
{
	const struct denied_page *seen = &set->seen;

	if (seen->revision < set->revision || seen->hosts < set->count)
		return error_set(err, ERROR_REMOTE,
				 "Redis has lost denied hosts: it has %zu, and "
				 "%zu are in force here, which stay so: deny "
				 "them again",
				 seen->hosts, set->count);
	if (seen->hosts == set->count)
		return 0;
	return error_set(err, ERROR_REMOTE,
			 "Redis has %zu denied hosts, and %zu are in force "
			 "here: %s cannot be read",
			 seen->hosts, set->count,
			 *set->damaged ? set->damaged : "the others");
}
