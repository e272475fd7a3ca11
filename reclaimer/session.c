#include "reclaimer/session.h"

#include <stdlib.h>

static int choose_spaces(struct session *s, const char *only, struct error *err)
{
	size_t count = linkstore_space_count(s->store);

	s->spaces = calloc(count ? count : 1, sizeof(const void *));
	if (!s->spaces)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		const struct link_space *space = linkstore_space(s->store, i);

		if (link_space_has_blocks(space) &&
		    (!only || space == linkstore_space_named(s->store, only)))
			s->spaces[s->space_count++] = space;
	}
	if (!s->space_count && only)
		return error_set(err, ERROR_USAGE,
				 "--space: there is no space '%.40s' with "
				 "blocks in the configuration",
				 only);
	return 0;
}

int session_open(struct session *s, struct app *app,
		 const struct reclaimer_config *config, struct error *err)
{
	*s = (struct session){.app = app, .config = config};
	if (options_read(app, &s->options, err) < 0)
		return -1;
	s->store = linkstore_new(&config->links, err);
	if (!s->store || choose_spaces(s, s->options.space, err) < 0)
		return -1;
	s->redis = redis_new(&config->redis, linkstore_scripts(s->store), err);
	return s->redis ? 0 : -1;
}

void session_close(struct session *s)
{
	free(s->spaces);
	redis_free(s->redis);
	linkstore_free(s->store);
	*s = (struct session){0};
}

const struct link_space *session_one_space(const struct session *s,
					   struct error *err)
{
	if (s->space_count == 1)
		return s->spaces[0];
	error_set(err, ERROR_USAGE,
		  "--space: %zu spaces with blocks are configured: name one",
		  s->space_count);
	return NULL;
}
