#include "aggregator/api/live/live_event.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json_text.h"

#define ID_LEN 36 /* length of a UUID */

/* The members of an event, in the order in which they are sent. */
static const struct member {
	const char *name;
	bool flag;     /* true or false; else a text */
	bool required; /* filters or readers depend on it */
} members[] = {
	{"id", false, true},
	{"ts", false, true},
	{"code", false, true},
	{"link_id", false, true},
	{"domain", false, true},
	{"account", false, true},
	{"owner", false, true},
	{"campaign", false, false},
	{"country", false, true},
	{"device_class", false, false},
	{"os_family", false, false},
	{"ua_family", false, false},
	{"channel", false, false},
	{"referrer_host", false, false},
	{"referrer_site", false, false},
	{"verdict", false, true},
	{"reason", false, false},
	{"human", true, true},
};
#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static int check_members(const json_t *object, struct error *err)
{
	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		const struct member *m = &members[i];
		const json_t *value = json_object_get(object, m->name);

		if (value ? !(m->flag ? json_is_boolean(value)
				      : json_is_string(value))
			  : m->required)
			return error_set(err, ERROR_INPUT, "%s: expected %s",
					 m->name,
					 m->flag ? "true or false" : "a text");
	}
	return 0;
}

/* The id stands on a line of its own, so that it must not have a line end. */
static int check_id(const char *id, struct error *err)
{
	if (strlen(id) == ID_LEN && strspn(id, "0123456789abcdef-") == ID_LEN)
		return 0;
	return error_set(err, ERROR_INPUT, "id: expected a UUID");
}

static int read_link_id(const char *text, uint64_t *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno)
		return 0;
	return error_set(err, ERROR_INPUT, "link_id: expected a whole number");
}

/* Texts have no line ends once JSON has escaped them. */
static void put_event(struct buf *out, const json_t *object)
{
	const char *separator = "";

	buf_puts(out, "event: click\nid: ");
	buf_puts(out, text_of(object, "id"));
	buf_puts(out, "\ndata: {");
	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		const json_t *value = json_object_get(object, members[i].name);

		if (!value)
			continue;
		buf_printf(out, "%s\"%s\":", separator, members[i].name);
		if (members[i].flag)
			buf_puts(out, json_is_true(value) ? "true" : "false");
		else
			json_put_string(out, json_string_value(value),
					json_string_length(value));
		separator = ",";
	}
	buf_puts(out, "}\n\n");
}

/* Stores the values that filters read, one behind the other, and then the text
 * to send. */
static struct live_event *make_event(const json_t *object,
				     const struct buf *sent)
{
	static const char *const names[] = {"account", "owner", "domain",
					    "country", "verdict"};
	enum {
		TEXTS = sizeof(names) / sizeof(names[0])
	};
	const char *texts[TEXTS];
	struct live_event *e;
	size_t size = sent->len;
	char *at;

	for (size_t i = 0; i < TEXTS; i++)
		size += strlen(text_of(object, names[i])) + 1;
	e = calloc(1, sizeof(*e) + size);
	if (!e)
		return NULL;
	at = e->data;
	for (size_t i = 0; i < TEXTS; i++) {
		texts[i] = at;
		at = stpcpy(at, text_of(object, names[i])) + 1;
	}
	atomic_init(&e->refs, 1);
	e->human = json_is_true(json_object_get(object, "human"));
	e->account = texts[0];
	e->owner = texts[1];
	e->domain = texts[2];
	e->country = texts[3];
	e->verdict = texts[4];
	memcpy(at, sent->data, sent->len);
	e->text = at;
	e->len = sent->len;
	return e;
}

static struct live_event *from_json(const json_t *object, struct error *err)
{
	struct live_event *e = NULL;
	struct buf sent = {0};
	uint64_t link_id;

	if (check_members(object, err) < 0 ||
	    check_id(text_of(object, "id"), err) < 0 ||
	    read_link_id(text_of(object, "link_id"), &link_id, err) < 0)
		return NULL;
	put_event(&sent, object);
	if (!sent.failed)
		e = make_event(object, &sent);
	buf_free(&sent);
	if (e)
		e->link_id = link_id;
	else
		error_set_nomem(err);
	return e;
}

struct live_event *live_event_parse(const void *record, size_t len,
				    struct error *err)
{
	struct live_event *e = NULL;
	json_error_t wrong;
	json_t *object;

	if (len > LIVE_EVENT_MAX) {
		error_set(err, ERROR_INPUT, "longer than %d bytes",
			  LIVE_EVENT_MAX);
		return NULL;
	}
	object = json_loadb(len ? record : "", len, JSON_REJECT_DUPLICATES,
			    &wrong);
	if (!object)
		error_set(err, ERROR_INPUT, "%s", wrong.text);
	else if (!json_is_object(object))
		error_set(err, ERROR_INPUT, "expected an object");
	else
		e = from_json(object, err);
	json_decref(object);
	return e;
}

struct live_event *live_event_share(struct live_event *e)
{
	atomic_fetch_add(&e->refs, 1);
	return e;
}

void live_event_release(struct live_event *e)
{
	if (!e || atomic_fetch_sub(&e->refs, 1) > 1)
		return;
	link_owner_release(&e->whose);
	free(e);
}

bool link_owner_copy(struct link_owner *to, const char *account,
		     const char *owner)
{
	*to = (struct link_owner){strdup(account), strdup(owner)};
	if (to->account && to->owner)
		return true;
	link_owner_release(to);
	return false;
}

void link_owner_release(struct link_owner *o)
{
	free(o->owner);
	free(o->account);
	*o = (struct link_owner){0};
}

/* Returns the value of a dimension that ASK_LIVE knows. */
static const char *value_of(const struct live_event *e, const char *dimension)
{
	if (!strcmp(dimension, "account"))
		return e->account;
	if (!strcmp(dimension, "owner"))
		return e->owner;
	if (!strcmp(dimension, "domain"))
		return e->domain;
	return strcmp(dimension, "country") ? e->verdict : e->country;
}

bool live_event_matches(const struct live_event *e, const struct question *q)
{
	if (q->link_id && q->link_id != e->link_id)
		return false;
	if (q->bots != BOTS_INCLUDE && e->human != (q->bots == BOTS_EXCLUDE))
		return false;
	for (size_t i = 0; i < q->filters.count; i++) {
		const struct filter *f = &q->filters.items[i];

		if (!filter_takes(f, value_of(e, f->dimension->name)))
			return false;
	}
	return true;
}
