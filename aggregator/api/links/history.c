/* GET /v1/links/{code}/history: all links that ever had the code. */
#include "aggregator/api/call.h"
#include "aggregator/api/links/link_json.h"
#include "aggregator/api/links/links_sql.h"
#include "aggregator/api/parameters.h"

struct history {
	const struct access *access;
	const struct domains *domains;
	json_t *links; /* that the caller sees */
	size_t limit;
	bool more; /* there are older ones */
};

static int take_former_link(void *arg, char **f, struct error *err)
{
	struct history *h = arg;
	const struct key_link whose = {.account = f[LINKS_ROW_ACCOUNT],
				       .owner = f[LINKS_ROW_OWNER]};

	if (!access_sees_link(h->access, &whose))
		return 0;
	if (json_array_size(h->links) == h->limit) {
		h->more = true;
		return 0;
	}
	return json_array_append_new(h->links,
				     link_row_to_json(f, h->domains)) < 0
		       ? error_set_nomem(err)
		       : 0;
}

static int query_history(struct call *call, struct history *h,
			 struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/link_history.sql.inc"
		;
	const struct code_query q = {.sql = sql,
				     .code = call->code,
				     .columns = LINKS_SQL_COLUMNS,
				     .fn = take_former_link,
				     .arg = h};
	int64_t now = 0;

	if (call_now(call, &now, err) < 0)
		return -1;
	return archive_query_code(call->ch, &call->config->links, now, &q, err);
}

static int read_history_limit(struct call *call, struct history *h,
			      struct error *err)
{
	static const char *const known[] = {"limit", NULL};
	struct url_params params = {0};
	int status = url_params_parse(&params, call->query, err);

	if (status == 0)
		status = parameter_check_names(&params, known, err);
	if (status == 0)
		status = parameter_read_limit(
			&params, call->config->aggregator.groups_max, &h->limit,
			err);
	url_params_free(&params);
	return status == 0 ? check_path_code(call->code, err) : -1;
}

/* A link that the archive does not have yet is that of the finder, too: then
 * the history is empty for a moment, and not absent. */
static int check_any_link(struct call *call, const struct history *h,
			  struct error *err)
{
	struct link_finder finder = call_finder(call);
	struct archived_link link = {0};
	int status = 0;

	if (!json_array_size(h->links))
		status = link_find_code(&finder, call->code, &link, err);
	archived_link_release(&link);
	return status;
}

int route_history(struct call *call, struct error *err)
{
	struct history h = {.access = call->access,
			    .domains = call->domains,
			    .links = json_array()};
	json_t *answer = NULL;
	int status = read_history_limit(call, &h, err);

	if (status == 0)
		status = query_history(call, &h, err);
	if (status == 0)
		status = check_any_link(call, &h, err);
	if (status == 0)
		status = links_json_add_life(call, h.links, NULL, err);
	if (status == 0)
		answer = json_pack("{s:s, s:O, s:b}", "code", call->code,
				   "links", h.links, "more", (int)h.more);
	json_decref(h.links);
	return status < 0 ? -1 : call_finish_json(call, answer, err);
}
