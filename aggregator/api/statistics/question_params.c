#include "aggregator/api/statistics/question_params.h"

#include <inttypes.h>
#include <stdio.h>

/* Rows that may be read in addition: those in the granules of events that may
 * have been sent twice. */
#define MARKED_BESIDE INT64_C(50000000)

void question_params_add(struct question_params *p, const char *name,
			 const char *value)
{
	p->items[p->count++] = (struct clickhouse_param){name, value};
	p->items[p->count] = (struct clickhouse_param){NULL, NULL};
}

void question_params_cut(struct question_params *p, size_t count)
{
	p->count = count;
	p->items[count] = (struct clickhouse_param){NULL, NULL};
}

void question_params_fill(struct question_params *p, const struct question *q,
			  uint64_t link_id, uint64_t attempt)
{
	*p = (struct question_params){0};
	snprintf(p->link_id, sizeof(p->link_id), "%" PRIu64, link_id);
	snprintf(p->from, sizeof(p->from), "%" PRId64, q->from);
	snprintf(p->to, sizeof(p->to), "%" PRId64, q->to);
	snprintf(p->attempt, sizeof(p->attempt), "%" PRIu64, attempt);
	snprintf(p->limit, sizeof(p->limit), "%zu", q->limit);
	p->beside = q->marked ? MARKED_BESIDE : 0;
	question_params_add(p, "param_link_id", p->link_id);
	question_params_add(p, "param_from", p->from);
	question_params_add(p, "param_to", p->to);
	question_params_add(p, "param_attempt", p->attempt);
	question_params_add(p, "param_limit", p->limit);
}

int question_params_filter(struct question_params *p, const struct question *q,
			   struct error *err)
{
	if (filter_params_fill(&p->filters, &q->filters, &p->items[p->count],
			       err) < 0)
		return -1;
	p->count += q->filters.count;
	p->items[p->count] = (struct clickhouse_param){NULL, NULL};
	return 0;
}

void question_params_release(struct question_params *p)
{
	filter_params_release(&p->filters);
	buf_free(&p->accounts);
	buf_free(&p->owners);
	caller_params_release(&p->caller);
}

int question_params_caller(struct question_params *p, const struct call *call,
			   struct error *err)
{
	if (caller_params_of(&p->caller, call->access, err) < 0)
		return -1;
	for (size_t i = 0; i < CALLER_PARAMS; i++)
		question_params_add(p, p->caller.items[i].name,
				    p->caller.items[i].value);
	return 0;
}

void question_params_rows(struct question_params *p, int64_t most)
{
	if (most <= INT64_MAX - p->beside)
		most += p->beside;
	if (p->readings > 1 && most <= INT64_MAX / p->readings)
		most *= p->readings;
	snprintf(p->most, sizeof(p->most), "%" PRId64, most);
	question_params_add(p, "max_rows_to_read", p->most);
}

void owner_names_release(struct owner_names *names)
{
	buf_free(&names->accounts);
	buf_free(&names->owners);
}

int question_params_owners(struct question_params *p, const struct call *call,
			   const struct owner_names *names, int64_t most,
			   struct error *err)
{
	int64_t rows = call->config->aggregator.raw_rows_max;

	clickhouse_escape(&p->accounts, names->accounts.data,
			  names->accounts.len);
	clickhouse_escape(&p->owners, names->owners.data, names->owners.len);
	if (!buf_cstr(&p->accounts) || !buf_cstr(&p->owners))
		return error_set_nomem(err);
	question_params_add(p, "param_bound_accounts", p->accounts.data);
	question_params_add(p, "param_any_owner",
			    names->any_owner ? "true" : "false");
	question_params_add(p, "param_bound_owners", p->owners.data);
	question_params_rows(p, most < rows ? most : rows);
	return 0;
}

int question_params_bound(struct question_params *p, const struct call *call,
			  int64_t most, struct error *err)
{
	struct access_bounds bounds;
	struct owner_names names = {0};
	int status = access_bounds_fill(&bounds, call->access, err);

	if (bounds.account)
		buf_puts(&names.accounts, bounds.account);
	names.owners = bounds.owners;
	names.any_owner = !bounds.has_owners;
	if (status == 0)
		status = question_params_owners(p, call, &names, most, err);
	buf_free(&names.accounts);
	access_bounds_release(&bounds);
	return status;
}

int question_params_refuse(const struct call *call, const char *instead,
			   struct error *err)
{
	*err = (struct error){0};
	error_set(err, ERROR_INPUT,
		  "from, to: clicks of this range would have to be looked at "
		  "one by one, and they are more than %" PRId64
		  " (setting raw_rows_max): ask for a shorter range, or %s",
		  call->config->aggregator.raw_rows_max, instead);
	return error_name_field(err, "from");
}

void question_params_explain(const struct call *call, struct error *err)
{
	if (call_exceeded_rows(call))
		(void)question_params_refuse(call, "of one link", err);
}
