#include "allocator/commands/space_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"

void space_option_refuse(const struct linkstore *store, const char *given,
			 struct error *err)
{
	struct buf names = {0};
	const char *list;

	for (size_t i = 0; i < linkstore_space_count(store); i++)
		buf_printf(&names, "%s%s", i ? ", " : "",
			   linkstore_space(store, i)->name);
	list = buf_cstr(&names);
	error_set(err, ERROR_USAGE, "--space%s%.60s: expected one of %.300s",
		  given ? " " : "", given ? given : "",
		  list ? list : "links.spaces");
	buf_free(&names);
}

const struct link_space *
space_option_open(struct space_option *ret,
		  const struct allocator_config *config, const struct app *app,
		  struct error *err)
{
	const char *name = app_option_value(app, "space");
	const struct link_space *space;

	ret->store = linkstore_new(&config->links, err);
	if (!ret->store)
		return NULL;
	space = name ? linkstore_space_named(ret->store, name) : NULL;
	if (!space) {
		space_option_refuse(ret->store, name, err);
		return NULL;
	}
	ret->redis =
		redis_new(&config->redis, linkstore_scripts(ret->store), err);
	return ret->redis ? space : NULL;
}

void space_option_close(struct space_option *o)
{
	redis_free(o->redis);
	linkstore_free(o->store);
}

int space_option_number(const struct app *app, const char *option,
			uint64_t *ret, struct error *err)
{
	const char *text = app_option_value(app, option);
	char *end;

	*ret = 0;
	if (!text)
		return 0;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (errno || end == text || *end || strchr(text, '-'))
		return error_set(err, ERROR_USAGE,
				 "--%s '%s': expected a number", option, text);
	return 0;
}
