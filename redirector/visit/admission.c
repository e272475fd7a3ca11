#include "redirector/visit/admission.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/network_list.h"
#include "redirector/visit/deny_file.h"
#include "redirector/visit/rate_table.h"

struct admission {
	struct redirector *redirector;
	struct deny_view denied;
	struct rate_table *requests; /* NULL: no limit */
	struct rate_table *unknown;  /* NULL: no limit */
	uint64_t forgotten_told;
	int64_t log_after; /* ms; no client is logged before then */
};

static int make_table(const struct rate_rule *rule, size_t bytes,
		      struct rate_table **ret_table, struct error *err)
{
	if (!rule->count)
		return 0;
	*ret_table = rate_table_new(rule, bytes, err);
	return *ret_table ? 0 : -1;
}

struct admission *admission_new(struct redirector *r, struct error *err)
{
	const struct redirector_settings *s = &r->config->redirector;
	struct admission *a = calloc(1, sizeof(*a));
	struct rate_rule client, unknown;
	size_t bytes;

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	a->redirector = r;
	deny_view_join(&a->denied, r->files[FILE_DENIED]);
	if (redirector_rates(s, &client, &unknown, err) < 0)
		goto fail;
	bytes = (size_t)s->limit_table_size / r->threads;
	if (client.count && unknown.count)
		bytes /= 2;
	if (make_table(&client, bytes, &a->requests, err) == 0 &&
	    make_table(&unknown, bytes, &a->unknown, err) == 0)
		return a;
fail:
	admission_free(a);
	return NULL;
}

void admission_free(struct admission *a)
{
	if (!a)
		return;
	deny_view_release(&a->denied);
	rate_table_free(a->requests);
	rate_table_free(a->unknown);
	free(a);
}

bool admission_has_rules(const struct admission *a)
{
	return a->requests || deny_view_has_list(&a->denied);
}

bool admission_denies(struct admission *a, const struct address *client)
{
	return deny_view_has(&a->denied, client);
}

/* A trusted proxy that does not name its client stands for many clients, so it
 * has no limit. */
static uint64_t limited_network(const struct admission *a,
				const struct address *client)
{
	if (network_list_has(a->redirector->proxies, client) ||
	    network_list_has(a->redirector->limit_exempt, client))
		return NETWORK_NONE;
	return network_of(client);
}

/* Always returns false, for the caller to return. */
static bool log_limited_client(struct admission *a,
			       const struct address *client, int64_t now,
			       const char *setting)
{
	char text[INET6_ADDRSTRLEN];

	if (now < a->log_after)
		return false;
	a->log_after = now + CLOCK_MINUTE;
	log_warn(a->redirector->log,
		 "client limited; if it is a proxy, trusted_proxies has to "
		 "name it",
		 log_str("client", address_text(client, text)),
		 log_str("limit", setting));
	return false;
}

bool admission_take_request(struct admission *a, const struct address *client,
			    int64_t now, int64_t *ret_wait_ms)
{
	if (!a->requests)
		return true;
	if (rate_table_take(a->requests, limited_network(a, client), now,
			    ret_wait_ms))
		return true;
	return log_limited_client(a, client, now, "client_rate");
}

bool admission_take_unknown(struct admission *a, const struct address *client,
			    int64_t now, uint64_t *ret_network,
			    int64_t *ret_wait_ms)
{
	uint64_t network = NETWORK_NONE;

	if (a->unknown)
		network = limited_network(a, client);
	if (!rate_table_take(a->unknown, network, now, ret_wait_ms))
		return log_limited_client(a, client, now, "unknown_rate");
	*ret_network = network;
	return true;
}

void admission_return_unknown(struct admission *a, uint64_t network)
{
	rate_table_give_back(a->unknown, network);
}

uint64_t admission_forgotten(struct admission *a)
{
	uint64_t all = rate_table_forgotten(a->requests) +
		       rate_table_forgotten(a->unknown);
	uint64_t new = all - a->forgotten_told;

	a->forgotten_told = all;
	return new;
}
