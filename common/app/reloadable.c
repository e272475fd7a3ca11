#include "common/app/reloadable.h"

#include <stdio.h>
#include <stdlib.h>

#define MESSAGE_MAX 96

struct reloadable {
	const struct reloadable_kind *kind;
	const void *source;
	struct versions *versions;
	struct metric *gauge; /* NULL: none */
};

/* --- reports -------------------------------------------------------------- */

void reload_report_done(const struct reload_report *to, const char *what,
			const struct log_field fields[RELOAD_FIELDS])
{
	char message[MESSAGE_MAX];

	snprintf(message, sizeof(message), "%s reloaded", what);
	log_info(to->log, message, fields[0], fields[1]);
}

void reload_report_rejected(const struct reload_report *to, const char *what,
			    const struct log_field fields[RELOAD_FIELDS],
			    const struct error *err)
{
	char message[MESSAGE_MAX];
	struct log_field all[RELOAD_FIELDS + 1] = {{0}};
	size_t count = 0;

	/* An unused field ends the line: the error comes before it. */
	for (; fields && count < RELOAD_FIELDS && fields[count].key; count++)
		all[count] = fields[count];
	all[count] = log_err(err);
	if (to->failures)
		metric_add(to->failures, 1);
	snprintf(message, sizeof(message), "%s rejected, the old ones stay",
		 what);
	log_error(to->log, message, all[0], all[1], all[2]);
}

/* --- values that are replaced --------------------------------------------- */

int reloadable_check(const struct reloadable_kind *kind, const void *source,
		     struct error *err)
{
	void *value = kind->load(source, err);

	if (!value)
		return -1;
	kind->free(value);
	return 0;
}

struct reloadable *reloadable_new(const struct reloadable_kind *kind,
				  const void *source, struct error *err)
{
	struct reloadable *r = calloc(1, sizeof(*r));
	void *first;

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->kind = kind;
	r->source = source;
	first = kind->load(source, err);
	if (first)
		r->versions = versions_new(first, kind->free, err);
	if (r->versions)
		return r;
	free(r);
	return NULL;
}

void reloadable_free(struct reloadable *r)
{
	if (!r)
		return;
	versions_free(r->versions);
	free(r);
}

bool reloadable_has_file(const struct reloadable *r)
{
	return !r->kind->has_file || r->kind->has_file(r->source);
}

int reloadable_read(struct reloadable *r, struct error *err)
{
	void *fresh = r->kind->load(r->source, err);

	return fresh ? versions_replace(r->versions, fresh, err) : -1;
}

static void describe_value(struct reloadable *r,
			   struct log_field ret[RELOAD_FIELDS])
{
	struct versions_user user;

	if (!r->kind->describe)
		return;
	reloadable_join(r, &user);
	r->kind->describe(versions_use(&user), ret);
	versions_leave(&user);
	if (r->gauge)
		metric_set(r->gauge, ret[0].number);
}

static void report_value(struct reloadable *r, const struct reload_report *to)
{
	struct log_field fields[RELOAD_FIELDS] = {{0}};

	describe_value(r, fields);
	reload_report_done(to, r->kind->what, fields);
}

void reloadable_show(struct reloadable *r, struct metric *gauge)
{
	struct log_field fields[RELOAD_FIELDS];

	r->gauge = gauge;
	describe_value(r, fields);
}

void reloadable_reload(struct reloadable *r, const struct reload_report *to)
{
	struct error err = {0};

	if (!r || !reloadable_has_file(r))
		return;
	if (reloadable_read(r, &err) < 0)
		reload_report_rejected(to, r->kind->what, NULL, &err);
	else
		report_value(r, to);
}

void reloadable_join(struct reloadable *r, struct versions_user *user)
{
	*user = (struct versions_user){.of = r->versions};
}

/* --- values that read themselves again ------------------------------------ */

int rereadable_reload(const struct rereadable_kind *kind, void *value,
		      const struct reload_report *to)
{
	struct log_field fields[RELOAD_FIELDS] = {{0}};
	struct error err = {0};

	if (kind->read(value, &err) < 0) {
		reload_report_rejected(to, kind->what, NULL, &err);
		return -1;
	}
	kind->describe(value, fields);
	reload_report_done(to, kind->what, fields);
	return 0;
}
