/* The rules of creations: which links may be made, under which codes, and how
 * others are refused. */
#include "tests/unit/allocator/creation_world.h"

#include "linkstore/url_blocks.h"

static void change_only_link(struct creation_world *w,
			     Shortloop__LinkState link_state,
			     const char *account)
{
	char key[128], code[128];
	struct link_target target;
	struct link_answer found;
	Shortloop__Link after;
	int64_t expires;

	snprintf(code, sizeof(code), "%s",
		 strchr(key_like(w, "l:*", key), '{') + 1);
	*strchr(code, '}') = '\0';
	assert_true(linkstore_locate(w->f->store, code, strlen(code), &target));
	must(w->f, await_lookup(w->f->await, &target, &found, &w->f->err));
	after = *found.link;
	after.state = link_state;
	after.version++;
	if (account)
		after.account = text_of(account);
	must(w->f, await_edit(w->f->await, &target, found.link, &after, NULL,
			      &expires, &w->f->err));
	await_release(&found.link);
}

/* --- permissions ---------------------------------------------------------- */

static void a_key_of_some_owners_makes_links_of_no_other(void **state)
{
	struct creation_world *w = *state;
	struct error err;
	struct key_names *owners = key_names_parse("ann", &err);
	struct made m;

	m = create_link_and_wait(
		w, &(struct asked){.owners = owners, .owner = "bob"});
	assert_int_equal(m.status, 403);
	assert_non_null(strstr(m.detail, "owner"));
	assert_int_equal(metric_value(w->counts.denied), 1);
	assert_int_equal(metric_value(w->rules.ttl_refused), 0);
	assert_int_equal(links_stored(w), 0);
	m = create_link_and_wait(
		w, &(struct asked){.owners = owners, .owner = "ann"});
	assert_int_equal(m.status, 201);
	key_names_free(owners);
}

static void an_account_has_the_classes_that_its_rules_name(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	strcpy(w->rules.ttl, "1s,never");
	m = create_link_and_wait(w, &(struct asked){.ttl = w->f->day});
	assert_int_equal(m.status, 403);
	assert_string_equal(m.detail,
			    "ttl: the account 'crm' may use 1s,never");
	assert_int_equal(metric_value(w->rules.ttl_refused), 1);
	assert_int_equal(metric_value(w->counts.denied), 1);
	assert_int_equal(links_stored(w), 0);
	m = create_link_and_wait(w, &(struct asked){.ttl = w->f->never});
	assert_int_equal(m.status, 201);
}

static void a_space_that_is_not_ready_makes_no_links(void **state)
{
	struct creation_world *w = *state;
	const struct space_monitor_options options = {
		.store = w->f->store, .use = SPACE_TO_ISSUE, .every = 1000};
	struct space_monitor *unchecked;
	struct error err;
	struct made m;

	unchecked = space_monitor_new(&options, &err);
	w->context.spaces = unchecked;
	m = create_link_and_wait(w, &(struct asked){0});
	assert_int_equal(m.status, 503);
	assert_int_equal(m.retry_after, 1);
	assert_int_equal(metric_value(w->counts.unavailable), 1);
	assert_int_equal(links_stored(w), 0);
	space_monitor_free(unchecked);
}

static void block_url(struct creation_world *w, const char *url)
{
	const struct url_decision decision = {.code = "-", .key = "boss"};
	const char *urls[] = {url};

	await_begin(w->f->await, NULL, &w->f->err);
	must(w->f,
	     await_end(w->f->await,
		       url_block_async(w->f->await->redis, w->f->store, "crm",
				       &decision, urls, 1, await_on_done,
				       w->f->await, &w->f->err)));
}

static void a_url_that_is_blocked_gets_no_link(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	block_url(w, "https://bad.example/");
	m = create_link_and_wait(
		w, &(struct asked){.url = "https://bad.example/", .key = "k"});
	assert_int_equal(m.status, 451);
	assert_non_null(strstr(m.detail, "https://bad.example/"));
	assert_int_equal(metric_value(w->counts.denied), 1);
	assert_int_equal(links_stored(w), 0);
	assert_int_equal(keys_like(w, "i:*"), 0);
	m = create_link_and_wait(w,
				 &(struct asked){.url = "https://bad.example/",
						 .account = "other"});
	assert_int_equal(m.status, 201);
}

/* --- quotas --------------------------------------------------------------- */

static void what_is_stored_is_charged_once(void **state)
{
	struct creation_world *w = *state;

	w->rules.quota.links = (struct quota_rule){2, QUOTA_DAY};
	assert_int_equal(create_link_and_wait(w, &(struct asked){0}).status,
			 201);
	assert_int_equal(read_charged_quota(w, "links"), 1);
	assert_int_equal(metric_value(w->rules.links_used), 1);
	assert_int_equal(create_link_and_wait(w, &(struct asked){0}).status,
			 201);
	settle_world(w);
	assert_int_equal(read_charged_quota(w, "links"), 2);
	assert_int_equal(metric_value(w->rules.links_used), 2);
}

static void a_used_up_quota_says_when_there_is_room_again(void **state)
{
	struct creation_world *w = *state;
	struct made m;
	long long left;
	char expected[64];

	w->rules.quota.links = (struct quota_rule){1, QUOTA_DAY};
	create_link_and_wait(w, &(struct asked){0});
	m = create_link_and_wait(w, &(struct asked){.key = "k"});
	left = 86400 - clock_real_ms() / 1000 % 86400;
	assert_int_equal(m.status, 429);
	assert_in_range(m.retry_after, left, left + 60);
	assert_non_null(strstr(m.detail, "the account 'crm' may store 1 links "
					 "a day and has stored 1;"));
	snprintf(expected, sizeof(expected), "again in %u s", m.retry_after);
	assert_non_null(strstr(m.detail, expected));
	assert_int_equal(metric_value(w->rules.links_refused), 1);
	assert_int_equal(metric_value(w->rules.bytes_refused), 0);
	assert_int_equal(metric_value(w->counts.denied), 1);
	settle_world(w);
	assert_int_equal(links_stored(w), 1);
	assert_int_equal(read_charged_quota(w, "links"), 1);
	assert_int_equal(keys_like(w, "i:*"), 0);
}

static void bytes_are_those_of_the_record(void **state)
{
	struct creation_world *w = *state;
	struct made m;
	char key[128], words[160];
	long long stored;

	w->rules.quota.bytes = (struct quota_rule){300, QUOTA_MONTH};
	assert_int_equal(create_link_and_wait(w, &(struct asked){0}).status,
			 201);
	snprintf(words, sizeof(words), "STRLEN %s", key_like(w, "l:*", key));
	stored = redis_server_number(&w->f->server, words);
	assert_int_equal(read_charged_quota(w, "bytes"), stored);
	assert_int_equal(metric_value(w->rules.bytes_used), stored);
	while ((m = create_link_and_wait(w, &(struct asked){0})).status == 201)
		;
	assert_int_equal(m.status, 429);
	assert_non_null(strstr(m.detail, "may store 300 bytes a month"));
	assert_int_equal(metric_value(w->rules.bytes_refused), 1);
	assert_int_equal(metric_value(w->rules.links_refused), 0);
}

static void what_is_not_stored_is_given_back(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->alias, .alias = "by-name"};

	long long bytes;

	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	w->rules.quota.bytes = (struct quota_rule){5000, QUOTA_DAY};
	assert_int_equal(create_link_and_wait(w, &asked).status, 201);
	bytes = read_charged_quota(w, "bytes");
	assert_true(bytes > 0);
	assert_int_equal(create_link_and_wait(w, &asked).status, 409);
	settle_world(w);
	assert_int_equal(read_charged_quota(w, "links"), 1);
	assert_int_equal(read_charged_quota(w, "bytes"), bytes);
}

static void what_cannot_be_charged_is_not_stored(void **state)
{
	struct creation_world *w = *state;
	char key[128], words[160];
	struct made m;

	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	create_link_and_wait(w, &(struct asked){0});
	snprintf(words, sizeof(words), "SET %s text",
		 key_like(w, "quota:*", key));
	freeReplyObject(redis_server_ask(&w->f->server, words));
	m = create_link_and_wait(w, &(struct asked){0});
	assert_int_equal(m.status, 503);
	assert_int_equal(metric_value(w->counts.unavailable), 1);
	assert_int_equal(links_stored(w), 1);
}

static void lose_answer(struct creation *c)
{
	const struct error lost = {.code = ERROR_REMOTE, .retriable = true};

	creation_stored(c, 0, &lost);
}

/* Redis may have stored the link, so it stays counted. */
static void what_may_be_stored_stays_charged(void **state)
{
	struct creation_world *w = *state;
	struct strategy losing = strategy_sequence;

	losing.store = lose_answer;
	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	assert_int_equal(
		create_link_and_wait(w, &(struct asked){.strategy = &losing})
			.status,
		503);
	settle_world(w);
	assert_int_equal(read_charged_quota(w, "links"), 1);
}

static int refusals;

static void refuse_twice(struct creation *c)
{
	const struct error not_ours = {.code = ERROR_NOT_OWNER,
				       .text = "not ours"};

	if (refusals++ < 2)
		creation_stored(c, 0, &not_ours);
	else
		strategy_sequence.store(c);
}

static void another_code_is_charged_no_second_time(void **state)
{
	struct creation_world *w = *state;
	struct strategy refusing = strategy_sequence;

	refusals = 0;
	refusing.store = refuse_twice;
	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	assert_int_equal(
		create_link_and_wait(w, &(struct asked){.strategy = &refusing})
			.status,
		201);
	assert_int_equal(read_charged_quota(w, "links"), 1);
	assert_int_equal(metric_value(w->counts.retries), 2);
}

/* --- Redis is nearly full ------------------------------------------------- */

static void fill_redis(struct creation_world *w)
{
	struct error err;

	freeReplyObject(
		redis_server_ask(&w->f->server, "CONFIG SET maxmemory 1gb"));
	redis_reserve_free(w->reserve);
	w->reserve = redis_reserve_new(100, w->metrics, NULL, &err);
	w->context.reserve = w->reserve;
	assert_int_equal(
		redis_reserve_start(w->reserve, w->loop, w->redis, &err), 0);
	while (!redis_reserve_is_reached(w->reserve))
		world_turn(w);
	freeReplyObject(
		redis_server_ask(&w->f->server, "CONFIG SET maxmemory 0"));
}

static void what_redis_has_left_is_kept_for_links_that_are_there(void **state)
{
	struct creation_world *w = *state;
	const struct asked hashed = {.space = w->f->hash};
	struct made first = create_link_and_wait(w, &hashed), m;

	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	fill_redis(w);
	m = create_link_and_wait(w, &(struct asked){0});
	assert_int_equal(m.status, 507);
	assert_int_equal(metric_value(w->counts.full), 1);
	assert_int_equal(links_stored(w), 1);
	assert_int_equal(keys_like(w, "quota:*"), 0);
	m = create_link_and_wait(w, &hashed);
	assert_int_equal(m.status, 200);
	assert_int_equal(m.link_id, first.link_id);
}

/* --- hash ----------------------------------------------------------------- */

static void the_same_url_of_an_owner_has_one_link(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->hash, .owner = "ann"};
	struct made first = create_link_and_wait(w, &asked), again;

	assert_int_equal(first.status, 201);
	again = create_link_and_wait(w, &asked);
	assert_int_equal(again.status, 200);
	assert_int_equal(again.link_id, first.link_id);
	assert_string_equal(again.code, first.code);
	assert_in_range(again.expires, first.expires - 1000,
			first.expires + 1000);
	assert_int_equal(links_stored(w), 1);
	assert_int_equal(metric_value(w->counts.found), 1);
	assert_int_equal(count_audit_lines(w), 1);
}

static void links_of_others_have_other_codes(void **state)
{
	struct creation_world *w = *state;
	struct made ann, bob, other, elsewhere;

	ann = create_link_and_wait(
		w, &(struct asked){.space = w->f->hash, .owner = "ann"});
	bob = create_link_and_wait(
		w, &(struct asked){.space = w->f->hash, .owner = "bob"});
	other = create_link_and_wait(w, &(struct asked){.space = w->f->hash,
							.owner = "ann",
							.account = "other"});
	elsewhere = create_link_and_wait(
		w, &(struct asked){.space = w->f->hash,
				   .owner = "ann",
				   .url = "https://a.example/"});
	assert_int_equal(bob.status, 201);
	assert_int_equal(other.status, 201);
	assert_int_equal(elsewhere.status, 201);
	assert_string_not_equal(ann.code, bob.code);
	assert_int_equal(links_stored(w), 4);
}

/* Other links take all the codes that a URL may have. */
static void take_candidates(struct creation_world *w, const char *account,
			    unsigned count)
{
	const struct url_code_subject of = {"crm", "", "https://example.org/",
					    20};
	Shortloop__Link link = empty_link();
	struct standalone_result result;
	struct link_target target;

	link.url = text_of("https://another.example/");
	link.account = text_of(account);
	for (unsigned i = 0; i < count; i++) {
		must(w->f, linkstore_hash_code(w->f->hash, &of, i, &target,
					       &w->f->err));
		standalone_prepare(w->f->day, (UINT64_C(63) << 57) + 1 + i,
				   &link);
		must(w->f, await_standalone(w->f->await, &target, &link, 0,
					    &result, &w->f->err));
		await_release(&result.existing);
	}
}

static void codes_of_others_are_passed_over(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->hash};
	struct made first, again;

	take_candidates(w, "another", 15);
	first = create_link_and_wait(w, &asked);
	assert_int_equal(first.status, 201);
	again = create_link_and_wait(w, &asked);
	assert_int_equal(again.status, 200);
	assert_int_equal(again.link_id, first.link_id);
	/* This holds even where the link is looked up before it is made. */
	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	again = create_link_and_wait(w, &asked);
	assert_int_equal(again.status, 200);
	assert_int_equal(again.link_id, first.link_id);
	assert_int_equal(keys_like(w, "quota:*"), 0);
}

static void a_code_of_another_url_of_mine_is_passed_over(void **state)
{
	struct creation_world *w = *state;

	take_candidates(w, "crm", 1);
	assert_int_equal(
		create_link_and_wait(w, &(struct asked){.space = w->f->hash})
			.status,
		201);
	assert_int_equal(links_stored(w), 2);
}

static void sixteen_taken_codes_are_a_full_space(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->hash};
	struct made m;

	take_candidates(w, "another", 16);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 507);
	assert_non_null(strstr(m.detail, "space h6 is full"));
	assert_int_equal(metric_value(w->counts.full), 1);
	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	assert_int_equal(create_link_and_wait(w, &asked).status, 507);
	settle_world(w);
	assert_int_equal(read_charged_quota(w, "links"), 0);
}

static void a_hashed_link_that_is_blocked_is_not_answered(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->hash};

	create_link_and_wait(w, &asked);
	change_only_link(w, SHORTLOOP__LINK_STATE__LINK_BLOCKED, NULL);
	assert_int_equal(create_link_and_wait(w, &asked).status, 451);
	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	assert_int_equal(create_link_and_wait(w, &asked).status, 451);
	assert_int_equal(links_stored(w), 1);
	assert_int_equal(metric_value(w->counts.found), 0);
}

static void a_hashed_link_that_was_deleted_is_not_answered(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->hash};
	struct made first = create_link_and_wait(w, &asked), m;

	change_only_link(w, SHORTLOOP__LINK_STATE__LINK_DELETED, NULL);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 201);
	assert_string_not_equal(m.code, first.code);
}

static void a_hashed_link_found_by_a_key_is_what_the_key_made(void **state)
{
	struct creation_world *w = *state;
	struct made first, m;

	first = create_link_and_wait(w, &(struct asked){.space = w->f->hash});
	m = create_link_and_wait(
		w, &(struct asked){.space = w->f->hash, .key = "k"});
	assert_int_equal(m.status, 200);
	settle_world(w);
	assert_true(record_in_redis(w).done);
	assert_int_equal(record_in_redis(w).link_id, first.link_id);
	assert_string_equal(record_in_redis(w).code, first.code);
	forget_keys(w, "l:*");
	m = create_link_and_wait(
		w, &(struct asked){.space = w->f->hash, .key = "k"});
	assert_int_equal(m.status, 410);
}

/* --- alias ---------------------------------------------------------------- */

static void an_alias_that_is_taken_says_why(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->alias, .alias = "by-name"};
	struct made m;

	assert_int_equal(create_link_and_wait(w, &asked).status, 201);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 409);
	assert_string_equal(m.detail, "code: by-name is taken; choose another");
	assert_int_equal(metric_value(w->counts.taken), 1);
	change_only_link(w, SHORTLOOP__LINK_STATE__LINK_BLOCKED, NULL);
	m = create_link_and_wait(w, &asked);
	assert_string_equal(m.detail, "code: by-name is taken by a link of "
				      "yours that is blocked; choose another");
	/* The response to another account does not contain that. */
	m = create_link_and_wait(w, &(struct asked){.space = w->f->alias,
						    .alias = "by-name",
						    .account = "other"});
	assert_string_equal(m.detail, "code: by-name is taken; choose another");
}

static void an_alias_that_was_deleted_is_in_quarantine(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->alias, .alias = "by-name"};
	struct made m;

	create_link_and_wait(w, &asked);
	change_only_link(w, SHORTLOOP__LINK_STATE__LINK_DELETED, NULL);
	m = create_link_and_wait(w, &asked);
	assert_int_equal(m.status, 409);
	assert_non_null(strstr(m.detail, "was deleted and is in quarantine"));
}

static void an_alias_that_expired_is_in_quarantine(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->alias, .alias = "by-name"};
	struct made m;

	w->f->config.quarantine = 3600 * 1000;
	create_link_and_wait(w, &asked);
	forget_keys(w, "l:*");
	m = create_link_and_wait(w, &asked);
	w->f->config.quarantine = QUARANTINE;
	assert_int_equal(m.status, 409);
	assert_non_null(strstr(m.detail, "has expired and is in quarantine"));
}

static void an_alias_of_forbidden_symbols_is_a_mistake(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	m = create_link_and_wait(
		w, &(struct asked){.space = w->f->alias, .alias = "a/b"});
	assert_int_equal(m.status, 400);
	assert_int_equal(metric_value(w->counts.invalid), 1);
	assert_memory_equal(m.detail, "code: ", 6);
	assert_int_equal(m.retry_after, 0);
	m = create_link_and_wait(
		w, &(struct asked){.space = w->f->alias, .alias = "abcde"});
	assert_int_equal(m.status, 409);
	assert_int_equal(metric_value(w->counts.taken), 1);
}

/* --- snowflake ------------------------------------------------------------ */

static void snowflakes_are_apart(void **state)
{
	struct creation_world *w = *state;
	const struct asked asked = {.space = w->f->snowflake};
	struct made a = create_link_and_wait(w, &asked),
		    b = create_link_and_wait(w, &asked);

	assert_int_equal(a.status, 201);
	assert_int_equal(b.status, 201);
	assert_string_not_equal(a.code, b.code);
	assert_true(a.link_id != b.link_id);
	assert_int_equal(a.link_id >> 57, 63);
	assert_int_equal(links_stored(w), 2);
}

static struct creation_world *world_of_store;

/* The first time, the chosen code belongs to another link. */
static void store_behind_another(struct creation *c)
{
	struct creation_world *w = world_of_store;
	Shortloop__Link link = empty_link();
	struct standalone_result result;

	world_of_store = NULL;
	if (w) {
		link.url = text_of("https://another.example/");
		standalone_prepare(w->f->day, (UINT64_C(63) << 57) + 1, &link);
		must(w->f, await_standalone(w->f->await, &c->target, &link, 0,
					    &result, &w->f->err));
		await_release(&result.existing);
	}
	strategy_snowflake.store(c);
}

static void a_snowflake_that_is_taken_costs_another_try(void **state)
{
	struct creation_world *w = *state;
	struct strategy behind = strategy_snowflake;
	struct made m;

	behind.store = store_behind_another;
	world_of_store = w;
	m = create_link_and_wait(w, &(struct asked){.space = w->f->snowflake,
						    .strategy = &behind});
	assert_int_equal(m.status, 201);
	assert_int_equal(links_stored(w), 2);
	assert_int_equal(metric_value(w->counts.conflicts), 1);
	assert_int_equal(metric_value(w->counts.retries), 1);
	assert_int_equal(metric_value(w->counts.created), 1);
}

static void nothing_is_made_without_the_lease_of_the_node(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	id_generator_stop(w->context.ids);
	m = create_link_and_wait(w, &(struct asked){.space = w->f->snowflake});
	assert_int_equal(m.status, 503);
	assert_non_null(strstr(m.detail, "node 3"));
	m = create_link_and_wait(w, &(struct asked){.space = w->f->hash});
	assert_int_equal(m.status, 503);
	assert_int_equal(links_stored(w), 0);
}

/* --- failures ------------------------------------------------------------- */

static struct error failure;

static void fail_at_once(struct creation *c)
{
	creation_fail(c, &failure);
}

static struct made fail_with(struct creation_world *w, enum error_code code,
			     const char *text)
{
	struct strategy failing = strategy_sequence;

	failing.take = fail_at_once;
	failure = (struct error){.code = code};
	snprintf(failure.text, sizeof(failure.text), "%s", text);
	return create_link_and_wait(w, &(struct asked){.strategy = &failing});
}

static void each_failure_has_its_status(void **state)
{
	struct creation_world *w = *state;
	struct made m;

	char text[SPACE_STATE_TEXT_MAX];

	m = fail_with(w, ERROR_EXHAUSTED, "x");
	assert_int_equal(m.status, 507);
	assert_non_null(strstr(m.detail, "space s5 is full"));
	assert_int_equal(metric_value(w->counts.full), 1);
	assert_int_equal(m.retry_after, 0);
	m = fail_with(w, ERROR_NOTFOUND, "x");
	assert_int_equal(m.status, 503);
	assert_string_equal(m.detail, space_state_describe(SPACE_MISSING,
							   w->f->space, text));
	assert_int_equal(metric_value(w->counts.unavailable), 1);
	m = fail_with(w, ERROR_INPUT, "code: what");
	assert_int_equal(m.status, 400);
	assert_string_equal(m.detail, "code: what");
	assert_int_equal(metric_value(w->counts.invalid), 1);
	m = fail_with(w, ERROR_REMOTE, "away");
	assert_int_equal(m.status, 503);
	assert_int_equal(m.retry_after, 1);
	assert_int_equal(metric_value(w->counts.unavailable), 2);
	assert_int_equal(metric_value(w->counts.created), 0);
}

/* --- a loss of Redis between two steps ------------------------------------ */

static struct creation *held;

static void hold_take(struct creation *c)
{
	held = c;
	loop_stop(((struct made *)c->arg)->w->loop);
}

/* The code is chosen just after the connection was lost. */
static struct made lose_connection(struct creation_world *w,
				   const struct strategy *inner,
				   struct asked asked)
{
	struct strategy holding = *inner;
	struct link_request request;
	struct made m;

	holding.take = hold_take;
	asked.strategy = &holding;
	held = NULL;
	start_creation(w, &m, &request, &asked);
	while (!held)
		world_run(w);
	freeReplyObject(redis_server_ask(&w->f->server,
					 "CLIENT KILL TYPE normal SKIPME yes"));
	while (redis_async_is_up(w->redis))
		world_turn(w);
	inner->take(held);
	finish_creation(w, &m);
	while (!redis_async_is_up(w->redis))
		world_turn(w);
	return m;
}

static void what_cannot_be_sent_is_answered_at_once(void **state)
{
	struct creation_world *w = *state;
	const struct asked alias = {.space = w->f->alias, .alias = "by-name"};
	struct asked keyed = alias;

	keyed.key = "k";
	assert_int_equal(lose_connection(w, &strategy_alias, alias).status,
			 503);
	assert_int_equal(lose_connection(w, &strategy_alias, keyed).status,
			 503);
	w->rules.quota.links = (struct quota_rule){5, QUOTA_DAY};
	assert_int_equal(lose_connection(w, &strategy_alias, alias).status,
			 503);
	assert_int_equal(links_stored(w), 0);
	assert_int_equal(metric_value(w->counts.unavailable), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(a_key_of_some_owners_makes_links_of_no_other),
		IN_WORLD(an_account_has_the_classes_that_its_rules_name),
		IN_WORLD(a_space_that_is_not_ready_makes_no_links),
		IN_WORLD(a_url_that_is_blocked_gets_no_link),
		IN_WORLD(what_is_stored_is_charged_once),
		IN_WORLD(a_used_up_quota_says_when_there_is_room_again),
		IN_WORLD(bytes_are_those_of_the_record),
		IN_WORLD(what_is_not_stored_is_given_back),
		IN_WORLD(what_cannot_be_charged_is_not_stored),
		IN_WORLD(what_may_be_stored_stays_charged),
		IN_WORLD(another_code_is_charged_no_second_time),
		IN_WORLD(what_redis_has_left_is_kept_for_links_that_are_there),
		IN_WORLD(the_same_url_of_an_owner_has_one_link),
		IN_WORLD(links_of_others_have_other_codes),
		IN_WORLD(codes_of_others_are_passed_over),
		IN_WORLD(a_code_of_another_url_of_mine_is_passed_over),
		IN_WORLD(sixteen_taken_codes_are_a_full_space),
		IN_WORLD(a_hashed_link_that_is_blocked_is_not_answered),
		IN_WORLD(a_hashed_link_that_was_deleted_is_not_answered),
		IN_WORLD(a_hashed_link_found_by_a_key_is_what_the_key_made),
		IN_WORLD(an_alias_that_is_taken_says_why),
		IN_WORLD(an_alias_that_was_deleted_is_in_quarantine),
		IN_WORLD(an_alias_that_expired_is_in_quarantine),
		IN_WORLD(an_alias_of_forbidden_symbols_is_a_mistake),
		IN_WORLD(snowflakes_are_apart),
		IN_WORLD(a_snowflake_that_is_taken_costs_another_try),
		IN_WORLD(nothing_is_made_without_the_lease_of_the_node),
		IN_WORLD(what_cannot_be_sent_is_answered_at_once),
		IN_WORLD(each_failure_has_its_status),
	};

	return cmocka_run_group_tests(tests, creation_world_begin,
				      creation_world_end);
}
