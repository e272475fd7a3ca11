#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/call.h"
#include "aggregator/api/cursor.h"
#include "aggregator/api/parameters.h"
#include "common/clickhouse/rows.h"
#include "common/http/url.h"

/* The reclaimer's runs, and the spaces that links or runs name: for keys with
 * the role admin. */

#define SPACE_MAX  64
#define SPACES_MAX 1000
#define NEWEST_MS  INT64_C(10413791999999) /* DateTime64(3) ends there */

#define RUN_COLUMNS                                                            \
	"space, toUnixTimestamp64Milli(started_at), "                          \
	"toUnixTimestamp64Milli(finished_at), scanned, freed, live, lost, "    \
	"gap, skipped, sampled, seconds, interrupted, toValidUTF8(error), "    \
	"toValidUTF8(host)"
#define RUN_KINDS "snnnnnnnnndsss"

/* --- the question --------------------------------------------------------- */

struct runs_query {
	char space[SPACE_MAX + 1]; /* "": all spaces */
	size_t limit;
	/* The runs behind this one: older, or as old and of a lower space. */
	int64_t before_ms;
	char before_space[SPACE_MAX + 1];
};

static void put_question(struct buf *out, const struct runs_query *q)
{
	buf_printf(out, "reclaim-runs 1 %s", q->space);
}

static void put_cursor(struct buf *out, const struct runs_query *q,
		       int64_t started_ms, const char *space)
{
	unsigned char place[CURSOR_PLACE_MAX];
	unsigned char *at = cursor_put_number(place, (uint64_t)started_ms, 8);
	size_t len = strnlen(space, SPACE_MAX);
	struct buf question = {0};

	put_question(&question, q);
	memcpy(at, space, len);
	cursor_put(out, &question, place, 8 + len);
	buf_free(&question);
}

static bool space_is_valid(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
			return false;
	}
	return len >= 1 && len <= SPACE_MAX;
}

static int read_cursor(struct runs_query *q, const char *text,
		       struct error *err)
{
	unsigned char place[CURSOR_PLACE_MAX];
	const unsigned char *at = place;
	struct buf question = {0};
	size_t len = 0;
	int status;

	q->before_ms = NEWEST_MS;
	if (!text)
		return 0;
	put_question(&question, q);
	status = cursor_parse(text, &question, place, &len, err);
	buf_free(&question);
	if (status < 0)
		return -1;
	if (len > 8)
		q->before_ms = (int64_t)cursor_take_number(&at, 8);
	if (len <= 8 || q->before_ms < 0 || q->before_ms > NEWEST_MS ||
	    !space_is_valid((const char *)at, len - 8))
		return error_set_field(err, "cursor",
				       "not one of reclaim-runs");
	memcpy(q->before_space, at, len - 8);
	return 0;
}

static int read_query(struct runs_query *q, const struct call *call,
		      struct error *err)
{
	static const char *const known[] = {"space", "limit", "cursor", NULL};
	struct url_params params = {0};
	const char *space;
	int status = -1;

	*q = (struct runs_query){0};
	if (url_params_parse(&params, call->query, err) < 0 ||
	    parameter_check_names(&params, known, err) < 0 ||
	    parameter_read_limit(&params, call->config->aggregator.groups_max,
				 &q->limit, err) < 0)
		goto out;
	space = url_param_get(&params, "space");
	if (space && !space_is_valid(space, strlen(space))) {
		error_set_field(err, "space",
				"expected 1 to %d letters, digits, '_', '.' "
				"or '-'",
				SPACE_MAX);
		goto out;
	}
	snprintf(q->space, sizeof(q->space), "%s", space ? space : "");
	status = read_cursor(q, url_param_get(&params, "cursor"), err);
out:
	url_params_free(&params);
	return status;
}

/* --- runs -------------------------------------------------------------------
 */

static json_t *run_to_json(char *const *f)
{
	static const char *const numbers[] = {"scanned", "freed", "live",
					      "lost",	 "gap",	  "skipped",
					      "sampled"};
	json_t *run = json_pack("{s:s, s:o, s:o}", "space", f[0], "started_at",
				json_time(tsv_i64(f[1])), "finished_at",
				json_time(tsv_i64(f[2])));

	for (size_t i = 0; run && i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(run, numbers[i],
				    json_count(tsv_u64(f[3 + i])));
	if (!run)
		return NULL;
	json_object_set_new(run, "seconds", json_real(strtod(f[10], NULL)));
	json_object_set_new(run, "interrupted",
			    json_boolean(!strcmp(f[11], "true")));
	json_object_set_new(run, "error",
			    *f[12] ? json_string(f[12]) : json_null());
	json_object_set_new(run, "host", json_string(f[13]));
	return run;
}

struct runs_answer {
	const struct runs_query *query;
	json_t *runs;
	struct buf next; /* the last run's cursor */
};

static int take_run(void *arg, char **f, struct error *err)
{
	struct runs_answer *a = arg;

	/* One run more than the limit is queried, to find out whether there are
	 * more. */
	if (json_array_size(a->runs) == a->query->limit) {
		json_object_set_new(
			json_array_get(a->runs, a->query->limit - 1), "more",
			json_true());
		return 0;
	}
	buf_reset(&a->next);
	put_cursor(&a->next, a->query, tsv_i64(f[1]), f[0]);
	if (!buf_cstr(&a->next) ||
	    json_array_append_new(a->runs, run_to_json(f)) < 0)
		return error_set_nomem(err);
	return 0;
}

static int fetch_runs(struct call *call, const struct runs_query *q,
		      struct runs_answer *a, struct error *err)
{
	char before[24], limit[24];
	const struct clickhouse_param params[] = {
		{"param_space", q->space},
		{"param_before", before},
		{"param_before_space", q->before_space},
		{"param_limit", limit},
		{NULL, NULL}};

	snprintf(before, sizeof(before), "%" PRId64, q->before_ms);
	snprintf(limit, sizeof(limit), "%zu", q->limit + 1);
	return clickhouse_rows(
		call->ch,
		"SELECT " RUN_COLUMNS " FROM reclaim_runs WHERE "
		"({space:String} = '' OR space = {space:String}) AND "
		"(started_at, space) < (fromUnixTimestamp64Milli("
		"{before:Int64}, 'UTC'), {before_space:String}) "
		"ORDER BY started_at DESC, space DESC LIMIT {limit:UInt64} "
		"FORMAT TabSeparated",
		params, RUN_KINDS, take_run, a, err);
}

int route_reclaim_runs(struct call *call, struct error *err)
{
	struct runs_query q;
	struct runs_answer a = {.query = &q, .runs = json_array()};
	json_t *last, *answer;
	int status = -1;

	if (access_check_admin(call->access, err) < 0 ||
	    read_query(&q, call, err) < 0)
		goto out;
	if (!a.runs) {
		error_set_nomem(err);
		goto out;
	}
	if (fetch_runs(call, &q, &a, err) < 0)
		goto out;
	last = json_array_get(a.runs, json_array_size(a.runs) - 1);
	answer = json_pack("{s:O, s:o}", "runs", a.runs, "next",
			   json_object_get(last, "more")
				   ? json_string(a.next.data)
				   : json_null());
	json_object_del(last, "more");
	status = call_finish_json(call, answer, err);
out:
	json_decref(a.runs);
	buf_free(&a.next);
	return status;
}

/* --- spaces -----------------------------------------------------------------
 */

static int take_space(void *arg, char **f, struct error *err)
{
	json_t *spaces = arg;
	bool has_run = tsv_u64(f[3]) > 0;
	json_t *space = json_pack(
		"{s:s, s:o, s:I, s:I, s:I, s:o}", "name", f[0], "last_link_at",
		json_time(tsv_i64(f[1])), "generation",
		(json_int_t)tsv_u64(f[2]), "runs", (json_int_t)tsv_u64(f[3]),
		"freed", (json_int_t)tsv_u64(f[4]), "last_run",
		has_run ? run_to_json(f + 5) : json_null());

	return json_array_append_new(spaces, space) < 0 ? error_set_nomem(err)
							: 0;
}

/* A space is known by its links and by the reclaimer's runs. */
static const char spaces_sql[] =
	"SELECT in_space, max(last_link), max(last_generation), "
	"sum(run_count), "
	"sum(freed_blocks), in_space, "
	"max(tupleElement(one_run, 1)), max(tupleElement(one_run, 2)), "
	"max(tupleElement(one_run, 3)), max(tupleElement(one_run, 4)), "
	"max(tupleElement(one_run, 5)), max(tupleElement(one_run, 6)), "
	"max(tupleElement(one_run, 7)), max(tupleElement(one_run, 8)), "
	"max(tupleElement(one_run, 9)), max(tupleElement(one_run, 10)), "
	"if(max(tupleElement(one_run, 11)), 'true', 'false'), "
	"max(tupleElement(one_run, 12)), max(tupleElement(one_run, 13)) FROM ("
	"SELECT space AS in_space, toUnixTimestamp64Milli(max(created_at)) AS "
	"last_link, max(generation) AS last_generation, 0 AS run_count, "
	"0 AS freed_blocks, tuple(toInt64(0), toInt64(0), toUInt64(0), "
	"toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0), toUInt64(0), "
	"toUInt64(0), toFloat64(0), false, '', '') AS one_run "
	"FROM links GROUP BY space UNION ALL "
	"SELECT space AS in_space, toInt64(0) AS last_link, toUInt32(0) AS "
	"last_generation, count() AS run_count, sum(freed) AS freed_blocks, "
	"argMax(tuple(toUnixTimestamp64Milli(started_at), "
	"toUnixTimestamp64Milli(finished_at), scanned, freed, live, lost, gap, "
	"skipped, sampled, seconds, interrupted, toValidUTF8(error), "
	"toValidUTF8(toString(host))), started_at) AS one_run "
	"FROM reclaim_runs GROUP BY space) "
	"GROUP BY in_space ORDER BY in_space LIMIT {limit:UInt64} FORMAT "
	"TabSeparated";

int route_spaces(struct call *call, struct error *err)
{
	static const char *const known[] = {NULL};
	char limit[24];
	const struct clickhouse_param params[] = {{"param_limit", limit},
						  {NULL, NULL}};
	struct url_params names = {0};
	json_t *spaces = json_array();
	int status = -1;

	snprintf(limit, sizeof(limit), "%d", SPACES_MAX);
	if (access_check_admin(call->access, err) < 0)
		goto out;
	if (url_params_parse(&names, call->query, err) < 0 ||
	    parameter_check_names(&names, known, err) < 0)
		goto out;
	if (!spaces)
		error_set_nomem(err);
	else if (clickhouse_rows(call->ch, spaces_sql, params,
				 "snnnn" RUN_KINDS, take_space, spaces,
				 err) == 0)
		status = call_finish_json(
			call, json_pack("{s:O}", "spaces", spaces), err);
out:
	url_params_free(&names);
	json_decref(spaces);
	return status;
}
