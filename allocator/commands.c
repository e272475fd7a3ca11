#include "allocator/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/keys/key_make.h"
#include "allocator/ledger/ledger_entry.h"
#include "common/buf.h"

void command_refuse_space(const struct linkstore *store, const char *given,
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

/* --- the ledger ----------------------------------------------------------- */

static int print_json(const struct ledger_entry *entries, size_t count,
		      struct error *err)
{
	json_t *root = ledger_json(entries, count);
	int status = root ? json_dumpf(root, stdout,
				       JSON_INDENT(1) | JSON_REAL_PRECISION(12))
			  : -1;

	json_decref(root);
	if (status < 0)
		return error_set_nomem(err);
	putchar('\n');
	return 0;
}

/* Reads those that were asked for into `entries`. */
static int read_spaces(struct redis *redis, const struct linkstore *store,
		       const char *only, struct ledger_entry *entries,
		       size_t *ret_count, struct error *err)
{
	const struct link_space *space;

	*ret_count = 0;
	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		space = linkstore_space(store, i);
		if (only && strcmp(only, space->name) != 0)
			continue;
		entries[*ret_count].space = space;
		if (ledger_entry_read(redis, &entries[(*ret_count)++], err) < 0)
			return -1;
	}
	if (*ret_count)
		return 0;
	command_refuse_space(store, only, err);
	return -1;
}

int command_spaces(const struct allocator_config *config, const struct app *app,
		   struct error *err)
{
	struct linkstore *store = linkstore_new(&config->links, err);
	struct redis *redis = store ? redis_new(&config->redis, err) : NULL;
	struct ledger_entry *entries = NULL;
	size_t count;
	int status = -1;

	if (!redis)
		goto out;
	entries = calloc(linkstore_space_count(store), sizeof(*entries));
	if (!entries) {
		error_set_nomem(err);
		goto out;
	}
	if (read_spaces(redis, store, app_option_value(app, "space"), entries,
			&count, err) == 0)
		status = app_option_value(app, "json")
				 ? print_json(entries, count, err)
				 : ledger_print(entries, count, err);
out:
	free(entries);
	redis_free(redis);
	linkstore_free(store);
	return status;
}

/* --- keys ----------------------------------------------------------------- */

int command_make_key(const struct app *app, struct error *err)
{
	const char *name = app_option_value(app, "name");
	const char *roles = app_option_value(app, "roles");
	const struct key_make_options options = {
		.name = name,
		.roles = roles,
		.account = app_option_value(app, "account"),
		.owners = app_option_value(app, "owners"),
		.rate = app_option_value(app, "rate"),
		.burst = app_option_value(app, "burst"),
	};
	char key[KEY_TEXT_MAX];
	struct buf line = {0};
	int status;

	if (!name || !roles)
		return error_set(err, ERROR_USAGE,
				 "for whom? --name NAME --roles ROLE[,ROLE], "
				 "out of read, read-own, create and admin");
	status = key_make(&options, key, &line, err);
	if (status == 0)
		printf("%s\n%s\n", key, buf_cstr(&line));
	buf_free(&line);
	return status;
}
