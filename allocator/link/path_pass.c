#include "allocator/link/path_pass.h"

#include <string.h>

#include "common/uri.h"

/* `url` is "" if there is none. */
static int check_url_takes_path(const char *url, const char *name,
				struct error *err)
{
	if (!*url || uri_takes_path(url, strlen(url)))
		return 0;
	return error_set_field(
		err, "pass_path",
		"%s has neither a host nor a path that "
		"begins with a slash, so that a visitor would choose "
		"where it leads: '%.80s'",
		name, url);
}

int path_pass_check(const Shortloop__Link *link, struct error *err)
{
	if (!link->path_pass)
		return 0;
	if (check_url_takes_path(link->url, "url", err) < 0)
		return -1;
	for (size_t i = 0; i < link->n_targets; i++) {
		const Shortloop__Target *target = link->targets[i];

		if (check_url_takes_path(target->url, "a target", err) < 0 ||
		    check_url_takes_path(target->app, "an app", err) < 0 ||
		    check_url_takes_path(target->mini_program, "a mini program",
					 err) < 0)
			return -1;
	}
	return 0;
}
