/* `allocator make-key --name NAME --roles ROLE[,ROLE] [--rate N/s] ...` */
#include <stdio.h>

#include "allocator/commands.h"
#include "common/keys/key_make.h"

int command_make_key(struct app *app, const void *config, struct error *err)
{
	const char *name = app_option_value(app, "name");
	const char *roles = app_option_value(app, "roles");
	const struct key_make_options options = {
		.name = name,
		.roles = roles,
		.account = app_option_value(app, "account"),
		.accounts = app_option_value(app, "accounts"),
		.owners = app_option_value(app, "owners"),
		.spaces = app_option_value(app, "spaces"),
		.rate = app_option_value(app, "rate"),
		.burst = app_option_value(app, "burst"),
	};
	char key[KEY_TEXT_MAX];
	struct buf line = {0};
	int status;

	(void)config;
	if (!name || !roles)
		return error_set(
			err, ERROR_USAGE,
			"for whom? --name NAME --roles ROLE[,ROLE], "
			"out of read, read-own, visitors, create and admin");
	status = key_make(&options, key, &line, err);
	if (status == 0)
		printf("%s\n%s\n", key, buf_cstr(&line));
	buf_free(&line);
	return status;
}
