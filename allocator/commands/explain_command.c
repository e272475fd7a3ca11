/* `allocator explain CODE [--host HOST] [--user-agent UA]`: prints what GET
 * /v1/links/{code}/why answers to an admin. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "allocator/allocator_config.h"
#include "allocator/commands.h"
#include "allocator/explain/explanation.h"
#include "linkstore/denied_set.h"
#include "linkstore/shared_domains.h"

struct explain_command {
	struct explained_visit visit;
	struct explanation_rules rules;
	struct loop *loop;
	struct redis_async *redis;
	struct link_target target;
	bool begun, done;
	struct buf text;
	struct error err;
};

static void end_command(struct explain_command *c, const struct error *err)
{
	if (err)
		c->err = *err;
	c->done = !err;
	loop_stop(c->loop);
}

static void on_facts(void *arg, const struct code_facts *facts,
		     const struct error *err)
{
	struct explain_command *c = arg;

	if (!err)
		explanation_write(&c->text, &c->visit, facts, &c->rules);
	end_command(c, err);
}

static void on_state(void *arg, bool up, const struct error *err)
{
	struct explain_command *c = arg;
	struct error why;

	if (!up)
		end_command(c, err);
	else if (!c->begun && code_facts_read_async(c->redis, &c->target,
						    on_facts, c, &why) < 0)
		end_command(c, &why);
	else
		c->begun = true;
}

static int query_facts(struct explain_command *c,
		       const struct allocator_config *config, struct error *err)
{
	int status = -1;

	c->loop = loop_new(err);
	if (!c->loop)
		return -1;
	c->redis = redis_async_new(c->loop, &config->redis,
				   linkstore_scripts(c->rules.store), on_state,
				   c, err);
	if (c->redis && loop_run(c->loop, err) == 0) {
		status = c->done ? 0 : -1;
		if (status < 0)
			*err = c->err;
	}
	redis_async_free(c->redis);
	loop_free(c->loop);
	return status;
}

static int print_text(const struct buf *text, struct error *err)
{
	json_t *root = text->failed
			       ? NULL
			       : json_loadb(text->data, text->len, 0, NULL);
	int status = root ? json_dumpf(root, stdout, JSON_INDENT(1)) : -1;

	json_decref(root);
	if (status < 0)
		return error_set_nomem(err);
	putchar('\n');
	return 0;
}

static int explain_visit(struct explain_command *c,
			 const struct allocator_config *config,
			 struct error *err)
{
	size_t len = strlen(c->visit.code);

	if (linkstore_locate(c->rules.store, c->visit.code, len, &c->target))
		return query_facts(c, config, err);
	if (linkstore_lacks_key(c->rules.store, c->visit.code, len))
		return error_set(err, ERROR_CONFIG,
				 "this code is of a key version that is not "
				 "configured here");
	explanation_write(&c->text, &c->visit, NULL, &c->rules);
	return 0;
}

/* Opens the domains that programs use: with domains.shared, those in Redis. */
static struct domains *open_domains(const struct allocator_config *config,
				    struct redis *redis, struct error *err)
{
	struct shared_domains shared = {.text = NULL};
	struct domains *domains = NULL;

	if (!config->domains.shared)
		return domains_open(&config->domains, &config->links, NULL,
				    err);
	if (shared_domains_read(redis, &shared, err) == 0)
		domains = domains_open(&config->domains, &config->links,
				       shared.text, err);
	shared_domains_release(&shared);
	return domains;
}

static struct domain_list *open_denied_hosts(const struct linkstore *store,
					     struct redis *redis,
					     struct error *err)
{
	struct denied_set *set = denied_set_new(err);
	struct domain_list *list = NULL;

	if (set && denied_set_update(set, redis, store, err) == 0)
		list = denied_set_list(set, err);
	denied_set_free(set);
	return list;
}

static int explain_by_rules(struct explain_command *c,
			    const struct allocator_config *config,
			    struct redis *redis, struct error *err)
{
	struct domains *domains = open_domains(config, redis, err);
	struct domain_list *denied =
		domains ? open_denied_hosts(c->rules.store, redis, err) : NULL;
	int status = -1;

	c->rules.domains = domains;
	c->rules.denied = denied;
	if (denied && explain_visit(c, config, err) == 0)
		status = print_text(&c->text, err);
	domain_list_free(denied);
	domains_free(domains);
	return status;
}

int command_explain(struct app *app, const void *config, struct error *err)
{
	const struct allocator_config *own = config;
	size_t count;
	char *const *words = app_operands(app, &count);
	struct explain_command c = {
		.visit = {.host = app_option_value(app, "host"),
			  .user_agent = app_option_value(app, "user-agent")}};
	struct linkstore *store;
	struct redis *redis = NULL;
	int status = -1;

	if (count != 1)
		return error_set(err, ERROR_USAGE, "explain: expected a code");
	c.visit.code = words[0];
	store = linkstore_new(&own->links, err);
	if (store)
		redis = redis_new(&own->redis, linkstore_scripts(store), err);
	c.rules.store = store;
	if (redis)
		status = explain_by_rules(&c, own, redis, err);
	buf_free(&c.text);
	redis_free(redis);
	linkstore_free(store);
	return status;
}
