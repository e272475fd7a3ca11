/* GET /v1/values: the distinct tags, owners, campaigns or domains of links, for
 * forms that suggest them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/caller_params.h"
#include "aggregator/api/parameters.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/unseen.h"

#define MEMORY	 "1000000000" /* bytes per query */
#define TEXT_MAX 128	      /* bytes of a value, like a link's owner */

/* The kinds of values, and what a row of `links` has of them. */
static const struct kind {
	const char *name, *sql;
	bool of_account; /* the value means nothing without its account */
} kinds[] = {
	{"tag", "arrayJoin(tags)", false},
	{"owner", "owner", true},
	{"campaign", "campaign", false},
	{"domain", "domain", false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct values_query {
	const struct kind *kind;
	const char *text;    /* "": any */
	const char *account; /* NULL: of all that the caller sees */
	size_t limit;
};

/* --- parameters ----------------------------------------------------------- */

static const struct kind *find_kind(const char *text)
{
	for (size_t i = 0; text && i < KINDS; i++)
		if (!strcmp(kinds[i].name, text))
			return &kinds[i];
	return NULL;
}

static int check_text(const char *name, const char *text, struct error *err)
{
	enum unseen kind = UNSEEN_NONE;

	if (text)
		unseen_find(text, strlen(text), UNSEEN_INVALID | UNSEEN_CONTROL,
			    &kind);
	if (!text || (kind == UNSEEN_NONE && strlen(text) <= TEXT_MAX))
		return 0;
	return error_set_field(err, name,
			       "expected at most %d bytes of UTF-8 without "
			       "control characters",
			       TEXT_MAX);
}

static int read_query(struct values_query *q, const struct call *call,
		      const struct url_params *params, struct error *err)
{
	static const char *const known[] = {"of", "q", "account", "limit",
					    NULL};

	if (parameter_check_names(params, known, err) < 0)
		return -1;
	q->kind = find_kind(url_param_get(params, "of"));
	if (!q->kind)
		return error_set_field(
			err, "of", "expected tag, owner, campaign or domain");
	q->text = url_param_get(params, "q");
	q->account = url_param_get(params, "account");
	if (check_text("q", q->text, err) < 0 ||
	    check_text("account", q->account, err) < 0)
		return -1;
	if (q->kind->of_account &&
	    access_check_owner(call->access, q->account != NULL, "of=owner",
			       err) < 0)
		return error_name_field(err, "of");
	return parameter_read_limit(params, call->config->aggregator.groups_max,
				    &q->limit, err);
}

/* --- the answer ----------------------------------------------------------- */

struct values_answer {
	json_t *values;
	size_t limit;
	bool more;
};

static int take_value(void *arg, char **f, struct error *err)
{
	struct values_answer *a = arg;
	json_t *value;

	if (json_array_size(a->values) == a->limit) {
		a->more = true;
		return 0;
	}
	value = json_pack("{s:s, s:o, s:o}", "value", f[0], "links",
			  json_count(tsv_u64(f[1])), "latest",
			  json_time(tsv_i64(f[2])));
	return json_array_append_new(a->values, value) < 0
		       ? error_set_nomem(err)
		       : 0;
}

static const char values_of_links[] =
#include "aggregator/sql/values_of_links.sql.inc"
	;

static int query_values(struct call *call, const struct values_query *q,
			const struct caller_params *caller,
			struct values_answer *a, struct error *err)
{
	static const char of_links[] =
#include "aggregator/sql/parts/of_links_asked_for.sql.inc"
		;
	bool all = !q->account && access_sees_all(call->access);
	const struct statement_blank blanks[] = {
		{"value", q->kind->sql},
		{"of_links", all ? NULL : of_links},
		{NULL, NULL}};
	struct buf text = {0}, account = {0}, sql = {0};
	struct clickhouse_param params[CALLER_PARAMS + 6];
	char limit[24];
	size_t n = 0;
	int status = -1;

	clickhouse_escape(&text, q->text ? q->text : "",
			  q->text ? strlen(q->text) : 0);
	clickhouse_escape(&account, q->account ? q->account : "",
			  q->account ? strlen(q->account) : 0);
	/* One more says that there are more. */
	snprintf(limit, sizeof(limit), "%zu", q->limit + 1);
	for (; n < CALLER_PARAMS; n++)
		params[n] = caller->items[n];
	params[n++] = (struct clickhouse_param){"param_every_account",
						q->account ? "false" : "true"};
	params[n++] =
		(struct clickhouse_param){"param_account", buf_cstr(&account)};
	params[n++] = (struct clickhouse_param){"param_q", buf_cstr(&text)};
	params[n++] = (struct clickhouse_param){"param_limit", limit};
	params[n++] = (struct clickhouse_param){"max_memory_usage", MEMORY};
	params[n] = (struct clickhouse_param){NULL, NULL};
	statement_put(&sql, values_of_links, blanks);
	if (!buf_cstr(&sql) || text.failed || account.failed)
		error_set_nomem(err);
	else
		status = clickhouse_rows(call->ch, sql.data, params, "snn",
					 take_value, a, err);
	if (status < 0)
		call_explain_memory(call,
				    "ClickHouse has not enough memory for "
				    "these values: give an account",
				    err);
	buf_free(&text);
	buf_free(&account);
	buf_free(&sql);
	return status;
}

static int answer_values(struct call *call, const struct values_query *q,
			 struct error *err)
{
	struct values_answer a = {.values = json_array(), .limit = q->limit};
	struct caller_params caller;
	int status = caller_params_of(&caller, call->access, err);

	if (status == 0 && !a.values)
		status = error_set_nomem(err);
	if (status == 0)
		status = query_values(call, q, &caller, &a, err);
	if (status == 0)
		status = call_finish_json(call,
					  json_pack("{s:s, s:O, s:b}", "of",
						    q->kind->name, "values",
						    a.values, "more", a.more),
					  err);
	caller_params_release(&caller);
	json_decref(a.values);
	return status;
}

int route_values(struct call *call, struct error *err)
{
	struct url_params params = {0};
	struct values_query q = {.kind = NULL};
	int status = -1;

	if (url_params_parse(&params, call->query, err) == 0 &&
	    read_query(&q, call, &params, err) == 0)
		status = answer_values(call, &q, err);
	url_params_free(&params);
	return status;
}
