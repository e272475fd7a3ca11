#include "aggregator/api/links/links_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/cursor.h"
#include "aggregator/api/parameters.h"
#include "common/buf.h"
#include "common/domain_list.h"
#include "common/http/url.h"
#include "common/unseen.h"
#include "linkstore/link/names.h"

#define TEXT_MAX 2048 /* bytes per filter */

#define CODE_SYMBOLS                                                           \
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"

static const char *const filter_names[LINKS_FILTER_COUNT] = {
	[LINKS_TEXT] = "q",
	[LINKS_TAG] = "tag",
	[LINKS_ACCOUNT] = "account",
	[LINKS_OWNER] = "owner",
	[LINKS_CAMPAIGN] = "campaign",
	[LINKS_DOMAIN] = "domain",
	[LINKS_STATE] = "state",
	[LINKS_URL] = "url",
	[LINKS_HOST] = "url_host",
	[LINKS_CODE] = "code",
};

static const char *const other_names[] = {
	"created_from", "created_to", "sort", "order", "clicks", "from",
	"to",		"tz",	      "bots", "limit", "cursor", "total"};
#define OTHER_COUNT (sizeof(other_names) / sizeof(*other_names))

bool links_query_filters(const struct links_query *q)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		if (q->filters[i])
			return true;
	}
	return q->created_from >= 0 || q->created_to >= 0 ||
	       links_query_is_bounded(q);
}

bool links_query_is_bounded(const struct links_query *q)
{
	return q->bounds && (q->bounds->has_owners || q->bounds->account);
}

bool links_query_is_by_owner(const struct links_query *q)
{
	return (q->filters[LINKS_OWNER] ||
		(q->bounds && q->bounds->has_owners)) &&
	       !q->filters[LINKS_TEXT] && !q->filters[LINKS_URL] &&
	       !q->filters[LINKS_HOST] && !q->filters[LINKS_TAG] &&
	       !q->filters[LINKS_CAMPAIGN];
}

/* --- the parts of a list
 * ------------------------------------------------------
 */

/* The parts in descending order, the last one twice if it is alone. */
static const enum links_part parts[][2] = {
	[LINKS_SORT_CREATED] = {LINKS_BY_CREATION, LINKS_BY_CREATION},
	[LINKS_SORT_CLICKS] = {LINKS_CLICKED, LINKS_UNCLICKED},
	[LINKS_SORT_ENDS] = {LINKS_ENDLESS, LINKS_ENDING},
};

enum links_part links_query_first_part(const struct links_query *q)
{
	return parts[q->sort][q->ascending ? 1 : 0];
}

bool links_query_next_part(const struct links_query *q, enum links_part part,
			   enum links_part *ret)
{
	*ret = parts[q->sort][q->ascending ? 0 : 1];
	return *ret != part;
}

struct links_place links_place_first(enum links_part part, bool ascending)
{
	if (ascending)
		return (struct links_place){.part = part};
	return (struct links_place){
		.part = part,
		.number = part == LINKS_CLICKED	  ? UINT64_MAX
			  : part == LINKS_ENDLESS ? 0
						  : LINKS_LATEST_MS,
		.link_id = UINT64_MAX,
	};
}

/* --- cursors ----------------------------------------------------------------
 */

#define PLACE_BYTES (1 + 8 + 8 + 4 + 4)
_Static_assert(PLACE_BYTES <= CURSOR_PLACE_MAX, "places fit");

/* Each text is written with its length, so that no two questions are the same
 * bytes. */
static void put_question(struct buf *out, const struct links_query *q)
{
	buf_printf(out,
		   "links 2 %d %d %d %d %" PRId64 " %" PRId64 " %" PRId64
		   " %" PRId64,
		   q->sort, q->ascending, q->has_clicks, q->bots, q->from,
		   q->to, q->created_from, q->created_to);
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		const char *value = q->filters[i];

		buf_printf(out, " %d:%zu:", value != NULL,
			   value ? strlen(value) : 0);
		buf_puts(out, value ? value : "");
	}
}

void links_cursor_put(struct buf *out, const struct links_query *q,
		      const struct links_place *place)
{
	unsigned char bytes[PLACE_BYTES];
	unsigned char *at = bytes;
	struct buf question = {0};

	put_question(&question, q);
	at = cursor_put_number(at, place->part, 1);
	at = cursor_put_number(at, place->number, 8);
	at = cursor_put_number(at, place->link_id, 8);
	at = cursor_put_number(at, place->until_day, 4);
	cursor_put_number(at, place->until_slot, 4);
	cursor_put(out, &question, bytes, PLACE_BYTES);
	buf_free(&question);
}

static bool has_ends(const struct links_place *place)
{
	return place->until_day <= UINT16_MAX &&
	       place->until_slot <=
		       place->until_day * LINKS_DAY_SLOTS + LINKS_SLOTS_MAX;
}

static bool is_part_of(const struct links_query *q, enum links_part part)
{
	enum links_part each = links_query_first_part(q);

	do {
		if (each == part)
			return true;
	} while (links_query_next_part(q, each, &each));
	return false;
}

/* A matching digest may be forged: the place is checked all the same. */
static bool is_of(const struct links_query *q, const struct links_place *place)
{
	if (!has_ends(place) || !is_part_of(q, place->part))
		return false;
	if (place->part == LINKS_ENDLESS)
		return place->number == 0;
	return place->part == LINKS_CLICKED || place->number <= LINKS_LATEST_MS;
}

static struct links_place place_of(const unsigned char bytes[PLACE_BYTES])
{
	const unsigned char *at = bytes;
	struct links_place place;

	place.part = (enum links_part)cursor_take_number(&at, 1);
	place.number = cursor_take_number(&at, 8);
	place.link_id = cursor_take_number(&at, 8);
	place.until_day = (uint32_t)cursor_take_number(&at, 4);
	place.until_slot = (uint32_t)cursor_take_number(&at, 4);
	return place;
}

int links_cursor_parse(const struct links_query *q, const char *text,
		       struct links_place *ret, struct error *err)
{
	unsigned char bytes[CURSOR_PLACE_MAX];
	struct links_place place = {.until_day = 0};
	struct buf question = {0};
	size_t len = 0;
	int status;

	put_question(&question, q);
	status = cursor_parse(text, &question, bytes, &len, err);
	buf_free(&question);
	if (status < 0)
		return -1;
	if (len == PLACE_BYTES)
		place = place_of(bytes);
	if (len != PLACE_BYTES || !is_of(q, &place))
		return error_set_field(err, "cursor", "not one of links");
	*ret = place;
	return 0;
}

/* --- parameters -------------------------------------------------------------
 */

static bool is_known(const char *key)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		if (!strcmp(filter_names[i], key))
			return true;
	}
	for (size_t i = 0; i < OTHER_COUNT; i++) {
		if (!strcmp(other_names[i], key))
			return true;
	}
	return false;
}

static int unknown_parameter(const char *key, struct error *err)
{
	char list[256] = "";
	size_t n = 0;

	for (int i = 0; i < LINKS_FILTER_COUNT; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s, ",
				      filter_names[i]);
	for (size_t i = 0; i < OTHER_COUNT; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
				      i ? ", " : "", other_names[i]);
	return error_set_field(err, key, "no such parameter; known here: %s",
			       list);
}

static int check_names(const struct url_params *params, struct error *err)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *key = params->items[i].key;

		if (!is_known(key))
			return unknown_parameter(key, err);
		if (parameter_check_once(params, &params->items[i], err) < 0)
			return -1;
	}
	return 0;
}

/* An empty value asks for links without an account, owner, campaign or domain.
 * An empty value of another filter would find everything or nothing. */
static bool may_be_empty(enum links_filter filter)
{
	return filter == LINKS_ACCOUNT || filter == LINKS_OWNER ||
	       filter == LINKS_CAMPAIGN || filter == LINKS_DOMAIN;
}

static bool is_state_name(const char *value)
{
	const ProtobufCEnumDescriptor *states =
		&shortloop__link_state__descriptor;

	if (!strcmp(value, LINKS_STATE_EXPIRED) ||
	    !strcmp(value, LINKS_STATE_RECLAIMED))
		return true;
	for (unsigned i = 0; i < states->n_values; i++)
		if (!strcmp(value, link_state_name((Shortloop__LinkState)states
							   ->values[i]
							   .value)))
			return true;
	return false;
}

/* Keeps the host as it is compared: lower case, A-labels. */
static int read_host(struct links_query *q, const char *value,
		     struct error *err)
{
	char text[DOMAIN_TEXT_MAX];

	if (listed_domain_normalise(value, text, err) < 0)
		return error_wrap_field(err, "url_host");
	q->filters[LINKS_HOST] = strdup(text);
	return q->filters[LINKS_HOST] ? 0 : error_set_nomem(err);
}

static int read_filter(struct links_query *q, enum links_filter filter,
		       const char *value, struct error *err)
{
	const char *name = filter_names[filter];
	size_t len = strlen(value);
	enum unseen kind;

	if (len > TEXT_MAX || (!len && !may_be_empty(filter)))
		return error_set_field(
			err, name, "expected 1 to %d bytes of text", TEXT_MAX);
	unseen_find(value, len, UNSEEN_INVALID | UNSEEN_CONTROL, &kind);
	if (kind != UNSEEN_NONE)
		return error_set_field(err, name,
				       "expected UTF-8 without control "
				       "characters");
	if (filter == LINKS_STATE && !is_state_name(value))
		return error_set_field(err, "state",
				       "expected live, paused, blocked, "
				       "deleted, expired or reclaimed");
	if (filter == LINKS_HOST)
		return read_host(q, value, err);
	if (filter == LINKS_CODE && strspn(value, CODE_SYMBOLS) != len)
		return error_set_field(err, "code",
				       "expected letters, digits, '_' or '-'");
	q->filters[filter] = strdup(value);
	return q->filters[filter] ? 0 : error_set_nomem(err);
}

static int read_filters(struct links_query *q, const struct url_params *params,
			struct error *err)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		const char *value = url_param_get(params, filter_names[i]);

		if (value &&
		    read_filter(q, (enum links_filter)i, value, err) < 0)
			return -1;
	}
	return 0;
}

static int read_creation(const struct url_params *params, const char *name,
			 int64_t *ret_ms, struct error *err)
{
	return parameter_read_time(params, name, (int64_t)LINKS_LATEST_MS, 2299,
				   ret_ms, err);
}

static int read_times(struct links_query *q, const struct url_params *params,
		      struct error *err)
{
	if (read_creation(params, "created_from", &q->created_from, err) < 0 ||
	    read_creation(params, "created_to", &q->created_to, err) < 0)
		return -1;
	if (q->created_to >= 0 && q->created_from >= q->created_to)
		return error_set_field(err, "created_from",
				       "expected a time before "
				       "`created_to`");
	return 0;
}

static int read_sort(struct links_query *q, const struct url_params *params,
		     struct error *err)
{
	static const char *const names[] = {
		[LINKS_SORT_CREATED] = "created",
		[LINKS_SORT_CLICKS] = "clicks",
		[LINKS_SORT_ENDS] = "ends",
	};
	const char *text = url_param_get(params, "sort"),
		   *order = url_param_get(params, "order");
	size_t i = 0;

	while (text && i < 3 && strcmp(names[i], text) != 0)
		i++;
	if (i == 3)
		return error_set_field(err, "sort",
				       "expected created, clicks or ends");
	q->sort = (enum links_sort)i;
	q->ascending = order && !strcmp(order, "asc");
	if (order && !q->ascending && strcmp(order, "desc") != 0)
		return error_set_field(err, "order", "expected asc or desc");
	return 0;
}

static int read_range(struct links_query *q, const struct url_params *params,
		      const struct aggregator_settings *settings,
		      struct error *err)
{
	const char *name = url_param_get(params, "tz");
	struct zone *zone;
	int status = -1;

	if (!name && !url_param_get(params, "from") &&
	    !url_param_get(params, "to"))
		return 0;
	zone = zone_load(settings->zoneinfo, name ? name : "UTC", err);
	if (!zone)
		return error_wrap_field(err, "tz");
	if (parameter_read_slot(params, "from", zone, &q->from, err) == 0 &&
	    parameter_read_slot(params, "to", zone, &q->to, err) == 0)
		status = 0;
	zone_free(zone);
	if (status == 0 && q->to >= 0 && q->from >= q->to)
		return error_set_field(err, "from",
				       "expected a time before `to`");
	return status;
}

/* These parameters say which clicks are counted: a list without clicks refuses
 * them. */
static int read_clicks(struct links_query *q, const struct url_params *params,
		       const struct aggregator_settings *settings,
		       struct error *err)
{
	static const char *const of_clicks[] = {"from", "to", "tz", "bots"};

	q->from = q->to = -1;
	if (parameter_read_flag(params, "clicks", &q->has_clicks, err) < 0)
		return -1;
	if (q->sort == LINKS_SORT_CLICKS && url_param_get(params, "clicks") &&
	    !q->has_clicks)
		return error_set_field(err, "clicks",
				       "expected true with sort=clicks");
	q->has_clicks |= q->sort == LINKS_SORT_CLICKS;
	for (size_t i = 0; !q->has_clicks && i < 4; i++)
		if (url_param_get(params, of_clicks[i]))
			return error_set_field(err, of_clicks[i],
					       "expected with clicks=true or "
					       "sort=clicks only");
	return parameter_read_bots(params, &q->bots, err) < 0
		       ? -1
		       : read_range(q, params, settings, err);
}

/* The cursor is read last: its digest covers all other parameters. */
static int read_cursor(struct links_query *q, const struct url_params *params,
		       struct error *err)
{
	const char *text = url_param_get(params, "cursor");

	q->at = links_place_first(links_query_first_part(q), q->ascending);
	return text ? links_cursor_parse(q, text, &q->at, err) : 0;
}

int links_query_parse(struct links_query *q, struct http_slice query,
		      const struct aggregator_settings *settings,
		      struct error *err)
{
	struct url_params params = {0};
	int status = -1;

	*q = (struct links_query){0};
	if (url_params_parse(&params, query, err) == 0 &&
	    check_names(&params, err) == 0 &&
	    read_filters(q, &params, err) == 0 &&
	    read_times(q, &params, err) == 0 &&
	    read_sort(q, &params, err) == 0 &&
	    read_clicks(q, &params, settings, err) == 0 &&
	    parameter_read_flag(&params, "total", &q->has_total, err) == 0 &&
	    parameter_read_limit(&params, settings->groups_max, &q->limit,
				 err) == 0)
		status = read_cursor(q, &params, err);
	url_params_free(&params);
	return status;
}

void links_query_release(struct links_query *q)
{
	for (int i = 0; i < LINKS_FILTER_COUNT; i++) {
		free(q->filters[i]);
		q->filters[i] = NULL;
	}
}
