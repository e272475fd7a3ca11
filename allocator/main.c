#include "allocator/allocator.h"
#include "allocator/allocator_config.h"
#include "allocator/commands.h"
#include "common/app/app.h"

static const struct app_command commands[] = {
	{"serve", "serve the API", NULL, command_serve},
	{"create-space", "make a space in Redis, once (--space)", NULL,
	 command_create_space},
	{"retire-key", "take a key of a space out of use (--key-version)", NULL,
	 command_retire_key},
	{"spaces", "show what spaces have left (--space, --json)", NULL,
	 command_show_spaces},
	{"domains", "the domains in Redis, for all programs",
	 "show | swap OLD NEW | pause NAME | resume NAME | push FILE | drop",
	 command_domains},
	{"takedown", "no link leads to a host any more",
	 "HOST ... | --lift HOST | --list", command_takedown},
	{"explain", "what a visitor of a code is answered, and why", "CODE",
	 command_explain},
	{"make-key", "make an API key and its line (--name, --roles)", NULL,
	 command_make_key},
	{0},
};

static const struct app_option options[] = {
	{"space", "NAME", "which of links.spaces",
	 "create-space retire-key spaces"},
	{"json", NULL, "as GET /v1/spaces answers it", "spaces"},
	{"first-block", "N", "where to begin, when Redis has lost the space",
	 "create-space"},
	{"no-archive", NULL, "do not query ClickHouse for what was issued",
	 "create-space"},
	{"key-version", "N", "which of the space's keys", "retire-key"},
	{"reason", "TEXT", "why, which is kept with the host", "takedown"},
	{"force", NULL, "even if the host is a public suffix, such as .com",
	 "takedown"},
	{"dry-run", NULL,
	 "deny nothing: count the links in the archive that "
	 "lead there",
	 "takedown"},
	{"wait", "DURATION",
	 "how long to wait for the archive to have the newest links (1m; "
	 "with --dry-run it does not wait)",
	 "takedown"},
	{"no-links", NULL, "deny the hosts only, and block no link",
	 "takedown"},
	{"lift", "HOST", "links may lead there again", "takedown"},
	{"list", NULL, "all denied hosts, and who denied them when and why",
	 "takedown"},
	{"host", "HOST", "the visit's host; that of the short URL if not",
	 "explain"},
	{"user-agent", "TEXT", "the visit's User-Agent", "explain"},
	{"name", "NAME", "whose key it is", "make-key"},
	{"roles", "ROLES", "out of read, read-own, visitors, create and admin",
	 "make-key"},
	{"account", "NAME",
	 "whose links it makes and reads; the key's name if not", "make-key"},
	{"accounts", "*", "read the links of all accounts", "make-key"},
	{"owners", "NAMES", "the only owners whose links it reads and writes",
	 "make-key"},
	{"spaces", "NAMES", "the only spaces in which it creates", "make-key"},
	{"rate", "N/s", "requests a second, /m minute or /h hour", "make-key"},
	{"burst", "N", "requests at once; the rate's number if not",
	 "make-key"},
	{0},
};

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "allocator",
		.summary = "creates short links from blocks of codes",
		.commands = commands,
		.default_command = "serve",
		.unconfigured = "make-key",
		.options = options,
		.groups = allocator_groups,
		.group_count = allocator_group_count,
		.validate = allocator_config_validate,
		.check = allocator_check,
	};
	struct allocator_config config = {0};

	return app_main(&spec, &config, &config.app, argc, argv);
}
