#include "aggregator/api/statistics/clicks_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/csv.h"

static void grouping_release(struct grouping *g)
{
	for (size_t i = 0; i < g->count; i++) {
		free(g->groups[i].value);
		free(g->groups[i].second);
		free(g->groups[i].url);
	}
	free(g->groups);
	*g = (struct grouping){0};
}

void clicks_answer_clear_groups(struct clicks_answer *a)
{
	for (size_t i = 0; i < BREAKDOWNS_MAX; i++)
		grouping_release(&a->groupings[i]);
}

void clicks_answer_release(struct clicks_answer *a)
{
	archived_link_release(&a->link);
	buckets_release(&a->buckets);
	free(a->data);
	clicks_answer_clear_groups(a);
	if (a->compared)
		clicks_answer_release(&a->compared->a);
	free(a->compared);
	a->compared = NULL;
}

void clicks_answer_cap(struct clicks_answer *a, enum bots_mode mode)
{
	for (size_t i = 0; i < a->buckets.count; i++)
		counts_cap(&a->data[i], mode);
	for (size_t i = 0; i < BREAKDOWNS_MAX; i++) {
		struct grouping *g = &a->groupings[i];

		for (size_t k = 0; k < g->count; k++)
			counts_cap(&g->groups[k].counts, mode);
	}
	counts_cap(&a->total, mode);
}

static int compare_values(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int order = strcmp(x->value, y->value);

	return order ? order : strcmp(x->second, y->second);
}

void clicks_answer_sort_groups(struct clicks_answer *a)
{
	for (size_t i = 0; i < BREAKDOWNS_MAX; i++) {
		struct grouping *g = &a->groupings[i];

		if (g->count)
			qsort(g->groups, g->count, sizeof(*g->groups),
			      compare_values);
	}
}

/* Finds the counts that belong to none of the groups in the answer. */
static bool find_rest(const struct grouping *g, const struct counts *total,
		      struct counts *ret)
{
	struct counts shown = {0};

	for (size_t i = 0; i < g->count; i++)
		counts_add(&shown, &g->groups[i].counts);
	/* Clicks can arrive between the two halves of a live query. */
	if (shown.events >= total->events)
		return false;
	*ret = counts_less(total, &shown);
	return true;
}

static json_t *data_to_json(const struct question *q,
			    const struct clicks_answer *a)
{
	json_t *array = json_array();
	char text[ZONE_TEXT_MAX];

	for (size_t i = 0; array && i < a->buckets.count; i++) {
		json_t *item = json_pack(
			"{s:s}", "start",
			zone_format(q->zone, a->buckets.starts[i], text));

		if (!item || counts_to_json(&a->data[i], q->bots, item) < 0 ||
		    json_array_append_new(array, item) < 0)
			return NULL;
	}
	return array;
}

static json_t *values_to_json(const struct question *q, const struct group *g)
{
	return q->group_by_count > 1
		       ? json_pack("{s:[s,s]}", "values", g->value, g->second)
		       : json_pack("{s:s}", "value", g->value);
}

static json_t *groups_to_json(const struct question *q,
			      const struct grouping *grouping)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < grouping->count; i++) {
		const struct group *g = &grouping->groups[i];
		json_t *item = values_to_json(q, g);

		if (item && grouping->has_urls &&
		    json_object_set_new(item, "long_url",
					g->url ? json_string(g->url)
					       : json_null()) < 0)
			return NULL;
		if (!item || counts_to_json(&g->counts, q->bots, item) < 0 ||
		    json_array_append_new(array, item) < 0)
			return NULL;
	}
	return array;
}

static json_t *group_by_to_json(const struct question *q)
{
	if (q->group_by_count == 1)
		return json_string(q->group_by[0]->name);
	return json_sprintf("%s,%s", q->group_by[0]->name,
			    q->group_by[1]->name);
}

/* Adds what the groups leave of the total.  Where one event has several values
 * (tags, `many`) the groups exceed the total, and there is no rest. */
static int add_grouping(const struct question *q, const struct grouping *g,
			const struct counts *total, bool many, json_t *answer)
{
	struct counts rest;
	json_t *object;

	if (json_object_set_new(answer, "groups", groups_to_json(q, g)) < 0 ||
	    json_object_set_new(answer, "lower_bound",
				json_boolean(g->lower_bound)) < 0)
		return -1;
	if (many || !find_rest(g, total, &rest))
		return 0;
	object = json_object();
	if (!object || counts_to_json(&rest, q->bots, object) < 0)
		return -1;
	return json_object_set_new(answer, "rest", object);
}

static int add_groups(const struct question *q, const struct clicks_answer *a,
		      json_t *answer)
{
	if (!q->group_by_count)
		return 0;
	if (json_object_set_new(answer, "group_by", group_by_to_json(q)) < 0)
		return -1;
	return add_grouping(q, &a->groupings[0], &a->total,
			    question_groups_many(q), answer);
}

static json_t *breakdown_to_json(const struct question *q, size_t at,
				 const struct grouping *g)
{
	const struct dimension *d = q->breakdowns[at];
	json_t *object =
		json_pack("{s:s, s:b, s:f}", "group_by", d->name, "approximate",
			  g->unique_error > 0, "unique_error", g->unique_error);

	if (object && add_grouping(q, g, &g->total, d->kind == DIMENSION_MANY,
				   object) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static int add_breakdowns(const struct question *q,
			  const struct clicks_answer *a, json_t *answer)
{
	json_t *array;

	if (!q->breakdown_count)
		return 0;
	array = json_array();
	for (size_t i = 0; array && i < q->breakdown_count; i++) {
		if (json_array_append_new(
			    array, breakdown_to_json(q, i, &a->groupings[i])) <
		    0) {
			json_decref(array);
			return -1;
		}
	}
	return json_object_set_new(answer, "breakdowns", array);
}

bool clicks_answer_is_complete(const struct clicks_answer *a,
			       const struct question *q)
{
	return !a->waits && a->complete_until >= q->to * 1000;
}

static json_t *head_to_json(const struct question *q,
			    const struct clicks_answer *a)
{
	char from[ZONE_TEXT_MAX], to[ZONE_TEXT_MAX];
	json_t *answer = json_object();

	if (!answer)
		return NULL;
	if (a->link.link_id) {
		json_object_set_new(answer, "code", json_string(a->link.code));
		json_object_set_new(answer, "link_id",
				    json_id(a->link.link_id));
	}
	json_object_set_new(answer, "interval",
			    json_string(bucket_interval_name(q->interval)));
	json_object_set_new(answer, "tz", json_string(zone_name(q->zone)));
	json_object_set_new(answer, "from",
			    json_string(zone_format(q->zone, q->from, from)));
	json_object_set_new(answer, "to",
			    json_string(zone_format(q->zone, q->to, to)));
	json_object_set_new(answer, "bots",
			    json_string(bots_mode_name(q->bots)));
	json_object_set_new(answer, "approximate",
			    json_boolean(a->unique_error > 0));
	json_object_set_new(answer, "unique_error", json_real(a->unique_error));
	json_object_set_new(answer, "complete_until",
			    json_complete_until(a->complete_until, q->to));
	json_object_set_new(answer, "complete",
			    json_boolean(clicks_answer_is_complete(a, q)));
	json_object_set_new(answer, "waiting", json_boolean(a->waits));
	return answer;
}

/* Finds the counts of the same values in the compared range.  Values that it
 * does not have are zero if it has no others than those that it lists,
 * otherwise they are not known. */
static bool find_compared(const struct compared *c,
			  const struct grouping *before, const struct group *g,
			  struct counts *ret)
{
	const struct group *other;

	if (*c->unknown || c->without_groups)
		return false;
	other = before->count ? bsearch(g, before->groups, before->count,
					sizeof(*g), compare_values)
			      : NULL;
	if (other) {
		*ret = other->counts;
		return true;
	}
	*ret = (struct counts){.visitors_known = true, .ips_known = true};
	return !before->lower_bound && before->count < c->q.limit;
}

static json_t *compared_group_to_json(const struct question *q,
				      const struct compared *c,
				      const struct grouping *before,
				      const struct group *g)
{
	json_t *item = values_to_json(q, g), *object = NULL;
	struct counts counts;

	if (!item)
		return NULL;
	object = find_compared(c, before, g, &counts) ? json_object()
						      : json_null();
	if ((json_is_object(object) &&
	     counts_to_json(&counts, q->bots, object) < 0) ||
	    json_object_set(item, "counts", object) < 0) {
		json_decref(item);
		item = NULL;
	}
	json_decref(object);
	return item;
}

/* Adds the groups of the answer, `now`, as they were in the compared range,
 * `before`, in the same order. */
static int add_compared_grouping(const struct question *q,
				 const struct compared *c,
				 const struct grouping *now,
				 const struct grouping *before, json_t *object)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < now->count; i++) {
		if (json_array_append_new(
			    array, compared_group_to_json(q, c, before,
							  &now->groups[i])) <
		    0) {
			json_decref(array);
			return -1;
		}
	}
	if (json_object_set_new(object, "groups", array) < 0)
		return -1;
	return json_object_set_new(object, "lower_bound",
				   json_boolean(before->lower_bound));
}

static json_t *compared_breakdown_to_json(const struct question *q,
					  const struct clicks_answer *a,
					  size_t at)
{
	const struct grouping *before = &a->compared->a.groupings[at];
	json_t *object = json_pack("{s:s, s:b, s:f}", "group_by",
				   q->breakdowns[at]->name, "approximate",
				   before->unique_error > 0, "unique_error",
				   before->unique_error);

	if (object && add_compared_grouping(q, a->compared, &a->groupings[at],
					    before, object) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static int add_compared_groups(const struct question *q,
			       const struct clicks_answer *a, json_t *object)
{
	json_t *array;

	if (!q->compare_groups)
		return 0;
	if (q->group_by_count)
		return add_compared_grouping(q, a->compared, &a->groupings[0],
					     &a->compared->a.groupings[0],
					     object);
	array = json_array();
	for (size_t i = 0; array && i < q->breakdown_count; i++) {
		if (json_array_append_new(
			    array, compared_breakdown_to_json(q, a, i)) < 0) {
			json_decref(array);
			return -1;
		}
	}
	return json_object_set_new(object, "breakdowns", array);
}

/* Has null for counts that are not known. */
static json_t *compared_to_json(const struct question *whole,
				const struct clicks_answer *a)
{
	const struct compared *c = a->compared;
	const struct question *q = &c->q;
	char from[ZONE_TEXT_MAX], to[ZONE_TEXT_MAX];
	json_t *object = json_pack("{s:s, s:s, s:s}", "with",
				   comparison_name(q->compare), "from",
				   zone_format(q->zone, q->from, from), "to",
				   zone_format(q->zone, q->to, to));
	json_t *total = *c->unknown ? json_null() : json_object();

	if (!object || !total)
		goto failed;
	if (*c->unknown) {
		json_object_set_new(object, "unknown", json_string(c->unknown));
	} else {
		json_object_set_new(object, "approximate",
				    json_boolean(c->a.unique_error > 0));
		json_object_set_new(object, "unique_error",
				    json_real(c->a.unique_error));
		if (counts_to_json(&c->a.total, q->bots, total) < 0)
			goto failed;
	}
	if (json_object_set(object, "total", total) < 0 ||
	    json_object_set_new(object, "data",
				*c->unknown ? json_array()
					    : data_to_json(q, &c->a)) < 0 ||
	    add_compared_groups(whole, a, object) < 0)
		goto failed;
	json_decref(total);
	return object;
failed:
	json_decref(total);
	json_decref(object);
	return NULL;
}

json_t *clicks_to_json(const struct question *q, const struct clicks_answer *a)
{
	json_t *answer = head_to_json(q, a);
	json_t *total = json_object();

	if (!answer || !total || counts_to_json(&a->total, q->bots, total) < 0)
		goto failed;
	if (json_object_set_new(answer, "data", data_to_json(q, a)) < 0 ||
	    json_object_set(answer, "total", total) < 0 ||
	    add_groups(q, a, answer) < 0 || add_breakdowns(q, a, answer) < 0)
		goto failed;
	if (a->compared &&
	    json_object_set_new(answer, "compare", compared_to_json(q, a)) < 0)
		goto failed;
	json_decref(total);
	return answer;
failed:
	json_decref(total);
	json_decref(answer);
	return NULL;
}

static void put_csv_names(const struct question *q, struct buf *out)
{
	for (size_t i = 0; i < q->group_by_count; i++)
		buf_printf(out, "%s,", q->group_by[i]->name);
	buf_printf(out, "%s%s%s%s\r\n",
		   question_groups_urls(q) ? "long_url," : "",
		   q->group_by_count ? "" : "start,", counts_csv_header,
		   q->group_by_count ? ",unique_error" : "");
}

/* Writes nothing if visitors are not known. */
static void put_csv_error(const struct clicks_answer *a, const struct counts *c,
			  struct buf *out)
{
	buf_putc(out, ',');
	if (c->sampled)
		buf_printf(out, "%.4g", c->sample_error);
	else if (c->visitors_known)
		buf_printf(out, "%.4g", a->unique_error);
}

void clicks_to_csv(const struct question *q, const struct clicks_answer *a,
		   struct buf *out)
{
	const struct grouping *g = &a->groupings[0];
	bool groups = q->group_by_count > 0;
	size_t rows = groups ? g->count : a->buckets.count;
	char text[ZONE_TEXT_MAX];

	put_csv_names(q, out);
	for (size_t i = 0; i < rows; i++) {
		if (groups)
			csv_put_text(out, g->groups[i].value);
		else
			buf_puts(out, zone_format(q->zone, a->buckets.starts[i],
						  text));
		buf_putc(out, ',');
		if (q->group_by_count > 1) {
			csv_put_text(out, g->groups[i].second);
			buf_putc(out, ',');
		}
		if (groups && question_groups_urls(q)) {
			csv_put_text(out,
				     g->groups[i].url ? g->groups[i].url : "");
			buf_putc(out, ',');
		}
		counts_to_csv(groups ? &g->groups[i].counts : &a->data[i],
			      q->bots, out);
		if (groups)
			put_csv_error(a, &g->groups[i].counts, out);
		buf_puts(out, "\r\n");
	}
}
