/*
 * `allocator domains show | swap OLD NEW | pause NAME | resume NAME | push
 * FILE | drop`: the domains in Redis, which all programs with domains.shared
 * use.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/allocator_config.h"
#include "allocator/commands.h"
#include "allocator/commands/domains_in_use.h"
#include "linkstore/domains_swap.h"
#include "linkstore/shared_domains.h"

struct domains_command {
	const struct allocator_config *config;
	char *const *words; /* the words after the subcommand */
	size_t count;
	struct linkstore *store;
	struct redis *redis;
	struct shared_domains now;
};

static int set_usage_error(struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "domains: expected show, swap OLD NEW, pause NAME, "
			 "resume NAME, push FILE or drop");
}

static int store_text(struct domains_command *c, const char *text,
		      struct error *err)
{
	uint64_t revision;

	if (shared_domains_write(c->redis, c->store, c->now.revision, text,
				 &revision, err) < 0)
		return -1;
	printf("stored as revision %" PRIu64 "\n", revision);
	return 0;
}

/* Checks the domains the way the programs do that take them. */
static int store_domains(struct domains_command *c,
			 const struct domains_config *domains,
			 struct error *err)
{
	char *text = domains_config_text(domains, err);
	struct domains_config checked = {0};
	int status;

	if (!text)
		return -1;
	status = domains_config_parse("the domains", text, &c->config->links,
				      &checked, err);
	if (status == 0)
		status = store_text(c, text, err);
	domains_config_release(&checked);
	free(text);
	return status;
}

/* --- show ----------------------------------------------------------------- */

static int show_domains(struct domains_command *c, struct error *err)
{
	char *text = domains_in_use_text(c->config, c->now.text, err);

	if (!text)
		return -1;
	if (*c->now.text)
		printf("# in Redis, revision %" PRIu64 "\n", c->now.revision);
	else if (c->config->domains.file)
		printf("# none in Redis; %s has\n", c->config->domains.file);
	else
		printf("# none in Redis; the configuration has\n");
	fputs(text, stdout);
	free(text);
	return 0;
}

/* --- changes -------------------------------------------------------------- */

static int swap_in(struct domains_command *c, struct domains_config *domains,
		   struct error *err)
{
	bool changed;

	if (domains_swap_host(domains, c->words[0], c->words[1], &changed,
			      err) < 0)
		return -1;
	if (changed)
		return store_domains(c, domains, err);
	printf("%s is in front of %s already\n", c->words[1], c->words[0]);
	return 0;
}

static struct domain_config *find_domain(const struct domains_config *domains,
					 const char *name)
{
	struct domain_config *all = domains->list.items;

	for (size_t i = 0; i < domains->list.count; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

static int set_paused_in(struct domains_command *c,
			 struct domains_config *domains, bool paused,
			 struct error *err)
{
	struct domain_config *domain = find_domain(domains, c->words[0]);

	if (!domain)
		return error_set(err, ERROR_INPUT,
				 "'%s' is not the name of a domain",
				 c->words[0]);
	if (domain->paused != paused) {
		domain->paused = paused;
		return store_domains(c, domains, err);
	}
	printf("%s is %s already\n", domain->name,
	       paused ? "paused" : "not paused");
	return 0;
}

static int pause_in(struct domains_command *c, struct domains_config *domains,
		    struct error *err)
{
	return set_paused_in(c, domains, true, err);
}

static int resume_in(struct domains_command *c, struct domains_config *domains,
		     struct error *err)
{
	return set_paused_in(c, domains, false, err);
}

/* Changes the domains in use by `change`, which stores them. */
static int change_domains(struct domains_command *c,
			  int (*change)(struct domains_command *c,
					struct domains_config *domains,
					struct error *err),
			  struct error *err)
{
	struct domains_config domains = {0};
	char *text = domains_in_use_text(c->config, c->now.text, err);
	int status = -1;

	if (!text)
		return -1;
	if (domains_config_parse("the domains in use", text, &c->config->links,
				 &domains, err) == 0)
		status = change(c, &domains, err);
	domains_config_release(&domains);
	free(text);
	return status;
}

static int swap_host(struct domains_command *c, struct error *err)
{
	return change_domains(c, swap_in, err);
}

static int pause_domain(struct domains_command *c, struct error *err)
{
	return change_domains(c, pause_in, err);
}

static int resume_domain(struct domains_command *c, struct error *err)
{
	return change_domains(c, resume_in, err);
}

static int push_domains_file(struct domains_command *c, struct error *err)
{
	struct domains_config domains = {0};
	int status = domains_config_load(c->words[0], &c->config->links,
					 &domains, err);

	if (status == 0)
		status = store_domains(c, &domains, err);
	domains_config_release(&domains);
	return status;
}

static int drop_domains(struct domains_command *c, struct error *err)
{
	return store_text(c, "", err);
}

/* -------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t operands;
	int (*run)(struct domains_command *c, struct error *err);
} subcommands[] = {
	{"show", 0, show_domains},	{"swap", 2, swap_host},
	{"pause", 1, pause_domain},	{"resume", 1, resume_domain},
	{"push", 1, push_domains_file}, {"drop", 0, drop_domains},
};

static int open_redis(struct domains_command *c, struct error *err)
{
	if (!c->config->domains.shared)
		return error_set(err, ERROR_CONFIG,
				 "domains.shared is false: no program takes "
				 "domains from Redis");
	c->store = linkstore_new(&c->config->links, err);
	if (!c->store)
		return -1;
	c->redis =
		redis_new(&c->config->redis, linkstore_scripts(c->store), err);
	if (!c->redis)
		return -1;
	return shared_domains_read(c->redis, &c->now, err);
}

static int run_subcommand(struct domains_command *c,
			  int (*fn)(struct domains_command *c,
				    struct error *err),
			  struct error *err)
{
	int status = open_redis(c, err);

	if (status == 0)
		status = fn(c, err);
	shared_domains_release(&c->now);
	redis_free(c->redis);
	linkstore_free(c->store);
	return status;
}

int command_domains(struct app *app, const void *config, struct error *err)
{
	size_t count;
	char *const *words = app_operands(app, &count);
	struct domains_command c = {.config = config};

	if (count == 0)
		return set_usage_error(err);
	c.words = words + 1;
	c.count = count - 1;
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]);
	     i++)
		if (!strcmp(words[0], subcommands[i].name) &&
		    c.count == subcommands[i].operands)
			return run_subcommand(&c, subcommands[i].run, err);
	return set_usage_error(err);
}
