/* The row of a link, and the rest of a forgotten link. */
#include "tests/unit/collector/click_row.h"

#include "common/drop_const.h"

#define COLUMN(name, type, left, write) #name " " type ", "
static const char columns[] =
#include "schemas/link_columns.inc"
	;

struct link {
	Shortloop__LinkEvent event;
	Shortloop__Link link;
	Shortloop__Target ios, wechat;
	Shortloop__Target *targets[2];
	char *tags[2];
	struct buf row;
};

static void fill_link(struct link *l)
{
	shortloop__link_event__init(&l->event);
	shortloop__link__init(&l->link);
	shortloop__target__init(&l->ios);
	shortloop__target__init(&l->wechat);
	l->row = (struct buf){0};
	l->event.code = drop_const("abc");
	l->event.space = drop_const("s5");
	l->event.time_ms = 2000;
	l->event.expires_ms = 3000;
	l->event.link = &l->link;
	l->link.link_id = 77;
	l->link.version = 2;
	l->link.created_ms = 1000;
	l->link.not_before_ms = 1500;
	l->link.redirect_status = 302;
	l->link.url = drop_const("https://example.org/");
	l->link.owner = drop_const("owner");
	l->link.campaign = drop_const("spring");
	l->link.domain = drop_const("go.example");
	l->link.description = drop_const("a text");
	l->link.account = drop_const("account");
	l->link.creator = drop_const("creator");
	l->link.editor = drop_const("editor");
	l->tags[0] = drop_const("one");
	l->tags[1] = drop_const("two");
	l->link.tags = l->tags;
	l->link.n_tags = 2;
	l->ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	l->ios.url = drop_const("https://ios");
	l->wechat.device = SHORTLOOP__DEVICE__DEVICE_WECHAT;
	l->wechat.url = drop_const("https://wechat");
	l->targets[0] = &l->ios;
	l->targets[1] = &l->wechat;
	l->link.targets = l->targets;
	l->link.n_targets = 2;
}

static void make_link_row(struct link *l, bool forgotten)
{
	const struct event_origin event = {
		.topic = "links", .partition = 3, .offset = 9};
	const struct row_origin origin = {5, &event};

	buf_free(&l->row);
	row_append_link(&l->row, &origin, &l->event, forgotten);
}

static void expect_column(const struct link *l, const char *column,
			  const char *value)
{
	assert_string_equal(row_column(&l->row, columns, column), value);
}

static void a_row_says_what_the_link_is(void **state)
{
	struct link l;

	(void)state;
	fill_link(&l);
	make_link_row(&l, false);
	expect_column(&l, "code", "abc");
	expect_column(&l, "link_id", "77");
	expect_column(&l, "version", "2");
	expect_column(&l, "state", "live");
	expect_column(&l, "created_at", "1000");
	expect_column(&l, "changed_at", "2000");
	expect_column(&l, "expires_at", "3000");
	expect_column(&l, "not_before", "1500");
	expect_column(&l, "redirect_status", "302");
	expect_column(&l, "url", "https://example.org/");
	expect_column(&l, "tags", "one,two");
	expect_column(&l, "targets", "ios,https://ios,wechat,https://wechat");
	expect_column(&l, "target_hosts", "example.org,ios,wechat");
	/* The first half of the SHA-256 of each URL. */
	expect_column(&l, "url_digests",
		      "8198d1bac40a1033653a78e48800cefc"
		      "9fc2eb78aee3babfa5199f4a67f2bf41"
		      "089066e5d822c1cbe1def18833158127");
	expect_column(&l, "pass_path", "0");
	expect_column(&l, "epoch", "5");
	expect_column(&l, "offset", "9");
	l.link.path_pass = 1;
	make_link_row(&l, false);
	expect_column(&l, "pass_path", "1");
	buf_free(&l.row);
}

static void what_opens_an_app_stands_beside_its_url(void **state)
{
	struct link l;

	(void)state;
	fill_link(&l);
	l.ios.app = drop_const("app://x");
	make_link_row(&l, false);
	expect_column(&l, "targets",
		      "ios,https://ios,ios_app,app://x,wechat,https://wechat");
	l.ios.app = drop_const("");
	l.wechat.mini_program = drop_const("wx7/page");
	make_link_row(&l, false);
	expect_column(
		&l, "targets",
		"ios,https://ios,wechat,https://wechat,wechat_mini_program,"
		"wx7/page");
	buf_free(&l.row);
}

static void domains_of_urls_are_sorted_and_each_once(void **state)
{
	struct link l;

	(void)state;
	fill_link(&l);
	l.link.url = drop_const("https://www.shop.co.uk/a");
	l.ios.url = drop_const("https://user@m.shop.co.uk:8443/b");
	l.ios.app = drop_const("app://evil.example/x");
	l.wechat.url = drop_const("http://[2001:db8::7]/");
	make_link_row(&l, false);
	expect_column(&l, "target_hosts", "[2001:db8::7],shop.co.uk");
	l.link.url = drop_const("no URL at all");
	l.link.n_targets = 0;
	make_link_row(&l, false);
	expect_column(&l, "target_hosts", "");
	buf_free(&l.row);
}

static void each_change_has_its_name(void **state)
{
	static const struct {
		Shortloop__LinkChange change;
		const char *name;
	} changes[] = {
		{SHORTLOOP__LINK_CHANGE__LINK_CREATED, "created"},
		{SHORTLOOP__LINK_CHANGE__LINK_CHANGED, "changed"},
		{SHORTLOOP__LINK_CHANGE__LINK_REMOVED, "removed"},
		{SHORTLOOP__LINK_CHANGE__LINK_MODERATED, "moderated"},
		{(Shortloop__LinkChange)99, "unspecified"},
	};
	struct link l;

	(void)state;
	fill_link(&l);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		l.event.change = changes[i].change;
		make_link_row(&l, false);
		expect_column(&l, "change", changes[i].name);
	}
	buf_free(&l.row);
}

static void a_row_says_by_which_request_the_link_came(void **state)
{
	struct link l;

	(void)state;
	fill_link(&l);
	make_link_row(&l, false);
	expect_column(&l, "source", "single");
	l.link.source = SHORTLOOP__LINK_SOURCE__SOURCE_BATCH;
	make_link_row(&l, false);
	expect_column(&l, "source", "batch");
	l.link.source = (Shortloop__LinkSource)99;
	make_link_row(&l, true);
	expect_column(&l, "source", "unknown");
	buf_free(&l.row);
}

/* DateTime64 ends with the year 2299. */
static void a_life_without_end_ends_where_the_table_does(void **state)
{
	struct link l;

	(void)state;
	fill_link(&l);
	l.event.expires_ms = UINT64_C(10413791998999);
	make_link_row(&l, false);
	expect_column(&l, "expires_at", "10413791998999");
	l.event.expires_ms = UINT64_MAX;
	make_link_row(&l, false);
	expect_column(&l, "expires_at", "10413791999000");
	buf_free(&l.row);
}

static void of_a_link_that_is_forgotten_its_code_is_left(void **state)
{
	static const char *const texts[] = {
		"url",	       "owner",	  "campaign",	 "domain",
		"description", "account", "creator",	 "editor",
		"tags",	       "targets", "target_hosts"};
	struct link l;

	(void)state;
	fill_link(&l);
	make_link_row(&l, true);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		expect_column(&l, texts[i], "");
	expect_column(&l, "state", "forgotten");
	expect_column(&l, "code", "abc");
	expect_column(&l, "link_id", "77");
	expect_column(&l, "version", "2");
	/* The event is unchanged. */
	make_link_row(&l, false);
	expect_column(&l, "owner", "owner");
	buf_free(&l.row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_says_what_the_link_is),
		cmocka_unit_test(what_opens_an_app_stands_beside_its_url),
		cmocka_unit_test(domains_of_urls_are_sorted_and_each_once),
		cmocka_unit_test(each_change_has_its_name),
		cmocka_unit_test(a_row_says_by_which_request_the_link_came),
		cmocka_unit_test(a_life_without_end_ends_where_the_table_does),
		cmocka_unit_test(of_a_link_that_is_forgotten_its_code_is_left),
	};

	return cmocka_run_group_tests_name("link row", tests, NULL, NULL);
}
