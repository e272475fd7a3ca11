#include <string.h>

#include "aggregator/api/clicks.h"

/* Of what the groups shown leave over.  Values that one event has several of
 * exceed the total: there is no rest to tell. */
static bool find_rest(const struct question *q, const struct clicks_answer *a,
		      struct counts *ret)
{
	struct counts shown = {0};

	if (!q->group_by || q->group_by->many)
		return false;
	for (size_t i = 0; i < a->group_count; i++)
		counts_add(&shown, &a->groups[i].counts);
	/* Clicks can arrive between the two halves of a live query. */
	if (shown.events >= a->total.events)
		return false;
	*ret = counts_less(&a->total, &shown);
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

static json_t *groups_to_json(const struct question *q,
			      const struct clicks_answer *a)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < a->group_count; i++) {
		json_t *item = json_pack("{s:s}", "value", a->groups[i].value);

		if (!item ||
		    counts_to_json(&a->groups[i].counts, q->bots, item) < 0 ||
		    json_array_append_new(array, item) < 0)
			return NULL;
	}
	return array;
}

static int add_groups(const struct question *q, const struct clicks_answer *a,
		      json_t *answer)
{
	struct counts rest;
	json_t *object;

	if (!q->group_by)
		return 0;
	if (json_object_set_new(answer, "group_by",
				json_string(q->group_by->name)) < 0 ||
	    json_object_set_new(answer, "groups", groups_to_json(q, a)) < 0)
		return -1;
	if (!find_rest(q, a, &rest))
		return 0;
	object = json_object();
	if (!object || counts_to_json(&rest, q->bots, object) < 0)
		return -1;
	return json_object_set_new(answer, "rest", object);
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
			    json_boolean(a->approximate));
	json_object_set_new(answer, "complete_until",
			    json_time(a->complete_until));
	return answer;
}

json_t *clicks_to_json(const struct question *q, const struct clicks_answer *a)
{
	json_t *answer = head_to_json(q, a);
	json_t *total = json_object();

	if (!answer || !total || counts_to_json(&a->total, q->bots, total) < 0)
		goto failed;
	if (json_object_set_new(answer, "data", data_to_json(q, a)) < 0 ||
	    json_object_set(answer, "total", total) < 0 ||
	    add_groups(q, a, answer) < 0)
		goto failed;
	json_decref(total);
	return answer;
failed:
	json_decref(total);
	json_decref(answer);
	return NULL;
}

/* RFC 4180: in quotes, and quotes doubled, where it must be. */
static void put_csv_text(struct buf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

void clicks_to_csv(const struct question *q, const struct clicks_answer *a,
		   struct buf *out)
{
	char text[ZONE_TEXT_MAX];
	size_t rows = q->group_by ? a->group_count : a->buckets.count;

	buf_printf(out, "%s,%s\r\n", q->group_by ? q->group_by->name : "start",
		   counts_csv_header);
	for (size_t i = 0; i < rows; i++) {
		if (q->group_by)
			put_csv_text(out, a->groups[i].value);
		else
			buf_puts(out, zone_format(q->zone, a->buckets.starts[i],
						  text));
		buf_putc(out, ',');
		counts_to_csv(q->group_by ? &a->groups[i].counts : &a->data[i],
			      q->bots, out);
		buf_puts(out, "\r\n");
	}
}
