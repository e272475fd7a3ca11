#include "allocator/change/change.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	REFUSAL_MAX = 512 /* bytes of a refusal's text */
};

void change_free_versions(struct change *c)
{
	if (c->before)
		shortloop__link__free_unpacked(c->before, NULL);
	if (c->after)
		shortloop__link__free_unpacked(c->after, NULL);
	c->before = c->after = NULL;
}

void change_end(struct change *c, const struct change_result *result)
{
	c->done(c->arg, result);
	change_free_versions(c);
	free(c);
}

void change_refuse(struct change *c, int status, const char *fmt, ...)
{
	char text[REFUSAL_MAX];
	const struct change_result result = {
		.status = status,
		.detail = text,
		.retry_after = status == 503 ? 1 : 0,
	};
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	change_end(c, &result);
}

void change_note_doubt(const struct change *c, const struct error *err)
{
	const struct link_changer_options *o = &c->changer->o;

	metric_add(o->metrics->unsure, 1);
	log_warn(o->creation->log, "a change may have been made unreported",
		 log_str("code", c->target.code),
		 log_str("action", change_deletes(c) ? "deleted" : "changed"),
		 log_str("key", c->caller.name), log_err(err));
}

void change_fail(struct change *c, const struct error *err)
{
	if (c->unsure_since)
		change_note_doubt(c, err);
	creation_log_failure(c->changer->o.creation, err);
	change_refuse(c, 503, "%s", error_outside(err));
}

void change_finish(struct change *c, const Shortloop__Link *link, bool changed,
		   int64_t expires)
{
	const struct change_result result = {
		.status = 200,
		.deletes = change_deletes(c),
		.changed = changed,
		.space = c->target.space,
		.code = c->target.code,
		.link = link,
		.expires = expires,
	};

	if (!changed)
		metric_add(c->changer->o.metrics->unchanged, 1);
	change_end(c, &result);
}
