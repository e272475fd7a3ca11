/* A click becomes a row: the time, the address, the verdict. */
#include "tests/unit/collector/click_row.h"
#include "tests/unit/collector/enricher_settings.h"

#include "collector/enrich/enricher.h"
#include "common/clock.h"
#include "common/drop_const.h"

#define NOW  INT64_C(1795255620123)
#define LATE INT64_C(86400000) /* same as in enricher_settings */

struct world {
	char rules[64], verdicts[64];
	struct collector_settings settings;
	struct enricher *enricher;
	struct buf rows, creations;
	int64_t ts; /* the last row's */
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->settings = enricher_settings(w->rules);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	unlink(w->rules);
	enricher_free(w->enricher);
	buf_free(&w->rows);
	buf_free(&w->creations);
	free(w);
	return 0;
}

static ProtobufCBinaryData make_bytes(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), drop_const(text)};
}

static ProtobufCBinaryData make_address(const char *eight_or_more, size_t len)
{
	return (ProtobufCBinaryData){len, drop_const(eight_or_more)};
}

static Shortloop__Click some_click(void)
{
	Shortloop__Click click;

	shortloop__click__init(&click);
	click.time_ms = (uint64_t)NOW;
	click.domain = drop_const("go.example.com");
	click.code = drop_const("abc");
	click.link_id = 77;
	click.outcome = SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED;
	click.client_ip = make_address("\x08\x08\x09\x0a", 4);
	click.user_agent = make_bytes("Alpha/7 (Windows)");
	return click;
}

/* The settings at the first row are the ones in use. */
static void make_row(struct world *w, const Shortloop__Click *click,
		     int64_t append_ms)
{
	struct error err = {0};

	if (!w->enricher)
		w->enricher = enricher_new(&w->settings, &err);
	if (!w->enricher)
		fail_msg("%s", err.text);
	w->ts = click_make_row(w->enricher, click, append_ms, &w->rows);
}

static void expect_column(struct world *w, const char *column,
			  const char *value)
{
	assert_string_equal(click_column(&w->rows, column), value);
}

/* --- times ---------------------------------------------------------------- */

static void a_time_is_moved_to_where_it_can_be(void **state)
{
	static const struct {
		int64_t time, ts;
	} cases[] = {
		{NOW, NOW},
		{NOW - LATE, NOW - LATE},
		{NOW - LATE - 1, NOW - LATE},
		{NOW + 5 * CLOCK_MINUTE, NOW + 5 * CLOCK_MINUTE},
		{NOW + 5 * CLOCK_MINUTE + 1, NOW + 5 * CLOCK_MINUTE},
	};
	struct world *w = *state;
	Shortloop__Click click = some_click();
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		click.time_ms = (uint64_t)cases[i].time;
		make_row(w, &click, NOW);
		assert_int_equal(w->ts, cases[i].ts);
		snprintf(text, sizeof(text), "%lld", (long long)cases[i].ts);
		expect_column(w, "ts", text);
		snprintf(text, sizeof(text), "%lld", (long long)cases[i].time);
		expect_column(w, "original_ts", text);
	}
}

static void no_time_lies_before_1970(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	click.time_ms = 1;
	make_row(w, &click, 5);
	assert_int_equal(w->ts, 1);
	make_row(w, &click, -LATE);
	assert_int_equal(w->ts, 0);
}

static void late_clicks_are_counted(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	make_row(w, &click, NOW);
	assert_int_equal(enricher_stats(w->enricher).late, 0);
	click.time_ms = (uint64_t)(NOW - LATE - 1);
	make_row(w, &click, NOW);
	assert_int_equal(enricher_stats(w->enricher).late, 1);
}

/* --- addresses ------------------------------------------------------------ */

#define NO_ADDRESS "00000000000000000000000000000000"

static void an_address_of_ipv4_is_mapped(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	make_row(w, &click, NOW);
	expect_column(w, "ip", "00000000000000000000ffff0808090a");
	click.client_ip = make_address("\x20\x01\x0d\xb8"
				       "abcdefghijkl",
				       16);
	make_row(w, &click, NOW);
	expect_column(w, "ip", "20010db86162636465666768696a6b6c");
	click.client_ip = make_address("", 0);
	make_row(w, &click, NOW);
	expect_column(w, "ip", NO_ADDRESS);
}

static void an_address_is_stored_as_it_is_set(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	w->settings.store_ip = drop_const("truncated");
	make_row(w, &click, NOW);
	expect_column(w, "ip", "00000000000000000000ffff08080900");
	enricher_free(w->enricher);
	w->enricher = NULL;
	w->settings.store_ip = drop_const("none");
	make_row(w, &click, NOW);
	expect_column(w, "ip", NO_ADDRESS);
}

/* Reads the identities of two addresses of one network. */
static void read_identities(struct world *w, char a[41], char b[41])
{
	Shortloop__Click click = some_click();

	enricher_free(w->enricher);
	w->enricher = NULL;
	make_row(w, &click, NOW);
	strcpy(a, click_column(&w->rows, "unique_identity"));
	click.client_ip = make_address("\x08\x08\x09\x0b", 4);
	make_row(w, &click, NOW);
	strcpy(b, click_column(&w->rows, "unique_identity"));
}

static void what_is_not_stored_may_tell_visitors_apart(void **state)
{
	struct world *w = *state;
	char whole[41], a[41], b[41];

	read_identities(w, whole, b);
	assert_string_not_equal(whole, b);
	w->settings.store_ip = drop_const("none");
	read_identities(w, a, b);
	assert_string_equal(a, whole);
	assert_string_not_equal(a, b);
}

static void of_what_is_stored_alone_the_rest_tells_nobody_apart(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	char whole[41], cut[41], a[41], b[41];

	w->settings.stored_ip_only = true;
	read_identities(w, whole, b);
	assert_string_not_equal(whole, b);
	w->settings.store_ip = drop_const("truncated");
	read_identities(w, cut, b);
	assert_string_equal(cut, b);
	assert_string_not_equal(cut, whole);
	w->settings.store_ip = drop_const("none");
	read_identities(w, a, b);
	assert_string_equal(a, b);
	assert_string_not_equal(a, cut);
	/* The row is the same as for a click without an address. */
	click.client_ip = make_address("", 0);
	make_row(w, &click, NOW);
	expect_column(w, "unique_identity", a);
}

/* The identity is the SHA-1 of the unchanged address and the agent. */
static void an_identity_is_of_the_address_as_it_came(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	click.client_ip = make_address("abc", 0);
	click.user_agent = make_bytes("abc");
	make_row(w, &click, NOW);
	expect_column(w, "unique_identity",
		      "a9993e364706816aba3e25717850c26c9cd0d89d");
	click.client_ip = make_address("abcd", 4);
	click.user_agent = make_bytes("efghijklmnopqrstuvwxyz");
	make_row(w, &click, NOW);
	expect_column(w, "unique_identity",
		      "32d10c7b8cf96570ca04ce37f2a19d84240d3a89");
}

/* --- texts ---------------------------------------------------------------- */

static void long_texts_are_cut(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	char text[400];

	memset(text, 'a', sizeof(text));
	click.query = click.referrer = click.user_agent =
		(ProtobufCBinaryData){sizeof(text), (uint8_t *)text};
	make_row(w, &click, NOW);
	assert_int_equal(strlen(click_column(&w->rows, "query")), 256);
	assert_int_equal(strlen(click_column(&w->rows, "referrer")), 256);
	assert_int_equal(strlen(click_column(&w->rows, "user_agent")), 256);
	click.query.len = 255;
	make_row(w, &click, NOW);
	assert_int_equal(strlen(click_column(&w->rows, "query")), 255);
}

static void what_a_click_says_stands_in_its_row(void **state)
{
	Shortloop__Click__CookiesEntry cookie;
	Shortloop__Click__CookiesEntry *cookies[] = {&cookie};
	char one[] = "one", two[] = "two";
	char *tags[] = {one, two};
	struct world *w = *state;
	Shortloop__Click click = some_click();

	shortloop__click__cookies_entry__init(&cookie);
	cookie.key = drop_const("k");
	cookie.value = drop_const("v");
	click.n_cookies = 1;
	click.cookies = cookies;
	click.n_tags = 2;
	click.tags = tags;
	click.campaign = drop_const("spring");
	click.status = 302;
	click.maybe_sent = 1;
	click.trace_id = make_bytes("0123456789abcdef");
	click.prefetch = drop_const("prefetch");
	click.query = make_bytes("utm_source=news&utm_medium=email");
	make_row(w, &click, NOW);
	expect_column(w, "epoch", "1");
	expect_column(w, "link_id", "77");
	expect_column(w, "tags", "one,two");
	expect_column(w, "campaign", "spring");
	expect_column(w, "status", "302");
	expect_column(w, "maybe_sent", "1");
	expect_column(w, "cookies", "k,v");
	expect_column(w, "purpose", "prefetch");
	expect_column(w, "trace_id", "30313233343536373839616263646566");
	expect_column(w, "utm_source", "news");
	expect_column(w, "utm_medium", "email");
	expect_column(w, "ua_family", "Alpha");
	expect_column(w, "ua_version", "7");
	expect_column(w, "channel", "email");
	click.trace_id.len = 15;
	make_row(w, &click, NOW);
	expect_column(w, "trace_id", "");
}

static void an_outcome_that_is_not_known_yet_is_none(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	char last[8];

	click.outcome = SHORTLOOP__OUTCOME__OUTCOME_HEAD;
	make_row(w, &click, NOW);
	snprintf(last, sizeof(last), "%d", (int)click.outcome);
	expect_column(w, "outcome", last);
	click.outcome =
		(Shortloop__Outcome)(SHORTLOOP__OUTCOME__OUTCOME_HEAD + 1);
	make_row(w, &click, NOW);
	expect_column(w, "outcome", "0");
	click.outcome = (Shortloop__Outcome)-1;
	make_row(w, &click, NOW);
	expect_column(w, "outcome", "0");
}

/* --- agents --------------------------------------------------------------- */

/* Replaces the rules of enricher_settings. */
static void use_agents(struct world *w)
{
	static const char text[] =
		"user_agent_parsers:\n"
		"  - regex: '(Beta)/(\\d+)\\.(\\d+)\\.(\\d+)\\.(\\d+)'\n"
		"  - regex: '(Beta)/(\\d+)\\.(\\d+)'\n"
		"os_parsers:\n  - regex: '(Windows)'\n"
		"device_parsers:\n  - regex: '(Crawlie)'\n"
		"    device_replacement: 'Spider'\n";

	unlink(w->rules);
	w->settings.ua_rules = unit_write_file(text, w->rules);
}

static void a_version_has_all_its_parts(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	use_agents(w);
	click.user_agent = make_bytes("Beta/1.20.3.44 (Windows)");
	make_row(w, &click, NOW);
	expect_column(w, "ua_version", "1.20.3.44");
	click.user_agent = make_bytes("Beta/1.2 (Windows)");
	make_row(w, &click, NOW);
	expect_column(w, "ua_version", "1.2");
	click.user_agent = make_bytes("(Windows)");
	make_row(w, &click, NOW);
	expect_column(w, "ua_version", "");
	expect_column(w, "os_family", "Windows");
}

/* A version has at most 127 digits and dots; parts that do not fit are left
 * out. */
static void a_version_that_is_too_long_loses_its_last_parts(void **state)
{
	static const struct {
		int first, second, length;
	} cases[] = {{64, 63, 128}, {64, 64, 64}, {60, 66, 127}};
	struct world *w = *state;
	Shortloop__Click click = some_click();
	char text[256], digits[101];

	use_agents(w);
	memset(digits, '7', 100);
	digits[100] = '\0';
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "Beta/%.*s.%.*s", cases[i].first,
			 digits, cases[i].second, digits);
		click.user_agent = make_bytes(text);
		make_row(w, &click, NOW);
		assert_int_equal(strlen(click_column(&w->rows, "ua_version")),
				 cases[i].length);
	}
}

static void an_agent_is_looked_at_once(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click(), other = some_click();

	use_agents(w);
	click.user_agent = make_bytes("Beta/1.2 (Windows)");
	other.user_agent = make_bytes("Crawlie");
	for (int i = 0; i < 3; i++) {
		make_row(w, &click, NOW);
		expect_column(w, "ua_family", "Beta");
		expect_column(w, "device_class", "desktop");
		make_row(w, &other, NOW);
		expect_column(w, "ua_family", "Other");
		expect_column(w, "device_class", "robot");
	}
	assert_int_equal(enricher_stats(w->enricher).agents.misses, 2);
	assert_int_equal(enricher_stats(w->enricher).agents.hits, 4);
}

static void a_spider_by_the_rules_is_one_unless_it_is_a_browser(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	use_agents(w);
	click.user_agent = make_bytes("Crawlie");
	make_row(w, &click, NOW);
	assert_string_equal(click_column(&w->rows, "verdict"), "1");
	click.user_agent =
		make_bytes("Mozilla/5.0 (Windows NT 10.0; Win64; x64) "
			   "AppleWebKit/537.36 (KHTML, like Gecko) "
			   "Chrome/140.0.0.0 Safari/537.36 Crawlie");
	make_row(w, &click, NOW);
	assert_string_equal(click_column(&w->rows, "verdict"), "0");
	expect_column(w, "device_family", "Spider");
}

/* --- verdicts ------------------------------------------------------------- */

static void expect_verdict(struct world *w, enum verdict_kind kind,
			   const char *reason)
{
	char text[8];

	snprintf(text, sizeof(text), "%d", (int)kind);
	expect_column(w, "verdict", text);
	expect_column(w, "verdict_reason", reason);
}

static void a_robot_has_a_device_of_its_own(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	make_row(w, &click, NOW);
	expect_verdict(w, VERDICT_HUMAN, "");
	expect_column(w, "device_class", "desktop");
	click.user_agent = make_bytes("Googlebot/2.1 (Windows)");
	make_row(w, &click, NOW);
	assert_string_equal(click_column(&w->rows, "verdict"), "1");
	expect_column(w, "device_class", "robot");
	/* A client without an agent has no verdict. */
	click.user_agent = make_bytes("");
	make_row(w, &click, NOW);
	assert_string_not_equal(click_column(&w->rows, "verdict"), "0");
	expect_column(w, "device_class", "other");
	assert_int_equal(enricher_stats(w->enricher).verdicts[VERDICT_HUMAN],
			 1);
}

static void visitors_in_a_burst_are_scanners(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	char code[8];

	w->settings.scan_window = 60000;
	w->settings.scan_codes = 3;
	w->settings.scan_not_found = 2;
	w->settings.scan_memory = 1 << 20;
	click.code = code;
	for (int i = 0; i < 3; i++) {
		snprintf(code, sizeof(code), "c%d", i);
		make_row(w, &click, NOW);
		assert_string_equal(click_column(&w->rows, "verdict"),
				    i < 2 ? "0" : "5");
	}
	expect_column(w, "verdict_reason", "burst of codes");
	click.client_ip = make_address("\x01\x01\x01\x01", 4);
	click.outcome = SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND;
	make_row(w, &click, NOW);
	expect_verdict(w, VERDICT_HUMAN, "");
	click.time_ms++;
	make_row(w, &click, NOW);
	expect_verdict(w, VERDICT_SCANNER, "burst of not found");
}

/* A robot with a known name stays a robot, and a rule's verdict comes last. */
static void a_burst_changes_no_verdict_that_is_sure(void **state)
{
	static const char rules[] =
		"- {verdict: human, reason: ours, agent: 'Alpha'}\n";
	struct world *w = *state;
	Shortloop__Click click = some_click();
	char code[8];

	w->settings.scan_window = 60000;
	w->settings.scan_codes = 2;
	w->settings.scan_memory = 1 << 20;
	w->settings.verdict_rules = unit_write_file(rules, w->verdicts);
	click.code = code;
	for (int i = 0; i < 4; i++) {
		snprintf(code, sizeof(code), "c%d", i);
		click.user_agent = make_bytes("Alpha/7 (Windows)");
		make_row(w, &click, NOW);
		expect_verdict(w, VERDICT_HUMAN, "rule: ours");
		click.user_agent = make_bytes("Googlebot/2.1");
		make_row(w, &click, NOW);
		assert_string_equal(click_column(&w->rows, "verdict"), "1");
	}
	unlink(w->verdicts);
}

/* --- invalid events ------------------------------------------------------- */

static int take_event(struct world *w, const Shortloop__Click *click,
		      struct error *err)
{
	const struct event_origin origin = {.topic = "clicks",
					    .append_ms = NOW};
	uint8_t packed[1024];
	size_t len = shortloop__click__pack(click, packed);

	if (!w->enricher)
		w->enricher = enricher_new(&w->settings, err);
	assert_non_null(w->enricher);
	buf_reset(&w->rows);
	return enricher_click(w->enricher, &origin, packed, len, &w->rows,
			      &w->ts, err);
}

static void a_click_without_a_time_or_an_address_is_none(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();
	struct error err = {0};

	assert_int_equal(take_event(w, &click, &err), 0);
	click.time_ms = 0;
	assert_int_equal(take_event(w, &click, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_int_equal(w->rows.len, 0);
	click.time_ms = UINT64_C(7258118400001);
	assert_int_equal(take_event(w, &click, &err), -1);
	click.time_ms--;
	assert_int_equal(take_event(w, &click, &err), 0);
	click.client_ip.len = 3;
	assert_int_equal(take_event(w, &click, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	click.client_ip = make_address("0123456789abcdef", 16);
	assert_int_equal(take_event(w, &click, &err), 0);
	click.client_ip = make_address("", 0);
	assert_int_equal(take_event(w, &click, &err), 0);
}

static void bytes_that_are_no_message_are_refused(void **state)
{
	const struct event_origin origin = {.topic = "clicks",
					    .append_ms = NOW};
	struct world *w = *state;
	Shortloop__Click click = some_click();
	struct error err = {0};

	assert_int_equal(take_event(w, &click, &err), 0);
	buf_reset(&w->rows);
	assert_int_equal(enricher_click(w->enricher, &origin, "\xff\xff", 2,
					&w->rows, &w->ts, &err),
			 -1);
	assert_int_equal(err.code, ERROR_INPUT);
	assert_int_equal(
		enricher_link(w->enricher, &origin, "\xff\xff", 2,
			      &(struct link_rows){&w->rows, &w->creations},
			      &w->ts, &err),
		-1);
	assert_int_equal(err.code, ERROR_INPUT);
}

static int take_link(struct world *w, const Shortloop__LinkEvent *event)
{
	const struct event_origin origin = {.topic = "links", .append_ms = 5};
	struct error err = {0};
	uint8_t packed[1024];
	size_t len = shortloop__link_event__pack(event, packed);
	int status;

	if (!w->enricher)
		w->enricher = enricher_new(&w->settings, &err);
	assert_non_null(w->enricher);
	buf_reset(&w->rows);
	buf_reset(&w->creations);
	status = enricher_link(w->enricher, &origin, packed, len,
			       &(struct link_rows){&w->rows, &w->creations},
			       &w->ts, &err);
	assert_int_equal(err.code, status < 0 ? ERROR_INPUT : 0);
	return status;
}

static void only_a_creation_has_a_row_of_created_links(void **state)
{
	struct world *w = *state;
	Shortloop__LinkEvent event;
	Shortloop__Link link;

	shortloop__link__init(&link);
	shortloop__link_event__init(&event);
	event.time_ms = 7;
	event.code = drop_const("abc");
	event.link = &link;
	link.link_id = 5;
	link.created_ms = 1000 * (86400 + 1799);
	event.change = SHORTLOOP__LINK_CHANGE__LINK_CHANGED;
	assert_int_equal(take_link(w, &event), 0);
	assert_int_equal(w->ts, -1);
	assert_int_equal(w->creations.len, 0);
	event.change = SHORTLOOP__LINK_CHANGE__LINK_CREATED;
	assert_int_equal(take_link(w, &event), 0);
	assert_int_equal(w->ts, 1000 * (86400 + 900));
	assert_true(w->creations.len > 0);
	/* ClickHouse's DateTime ends in 2106. */
	link.created_ms = UINT64_MAX;
	assert_int_equal(take_link(w, &event), 0);
	assert_true(w->ts == INT64_C(4294967295) / 900 * 900 * 1000);
}

static void an_event_of_a_link_has_a_time_a_code_and_a_link(void **state)
{
	struct world *w = *state;
	Shortloop__LinkEvent event;
	Shortloop__Link link;

	shortloop__link__init(&link);
	shortloop__link_event__init(&event);
	event.time_ms = 7;
	event.code = drop_const("abc");
	event.link = &link;
	assert_int_equal(take_link(w, &event), 0);
	event.time_ms = UINT64_C(7258118400000);
	assert_int_equal(take_link(w, &event), 0);
	event.time_ms++;
	assert_int_equal(take_link(w, &event), -1);
	event.time_ms = 0;
	assert_int_equal(take_link(w, &event), -1);
	event.time_ms = 7;
	event.code = drop_const("");
	assert_int_equal(take_link(w, &event), -1);
	event.code = drop_const("abc");
	event.link = NULL;
	assert_int_equal(take_link(w, &event), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_time_is_moved_to_where_it_can_be),
		TEST(no_time_lies_before_1970),
		TEST(late_clicks_are_counted),
		TEST(an_address_of_ipv4_is_mapped),
		TEST(an_address_is_stored_as_it_is_set),
		TEST(what_is_not_stored_may_tell_visitors_apart),
		TEST(of_what_is_stored_alone_the_rest_tells_nobody_apart),
		TEST(an_identity_is_of_the_address_as_it_came),
		TEST(long_texts_are_cut),
		TEST(what_a_click_says_stands_in_its_row),
		TEST(an_outcome_that_is_not_known_yet_is_none),
		TEST(a_version_has_all_its_parts),
		TEST(a_version_that_is_too_long_loses_its_last_parts),
		TEST(an_agent_is_looked_at_once),
		TEST(a_spider_by_the_rules_is_one_unless_it_is_a_browser),
		TEST(a_robot_has_a_device_of_its_own),
		TEST(visitors_in_a_burst_are_scanners),
		TEST(a_burst_changes_no_verdict_that_is_sure),
		TEST(a_click_without_a_time_or_an_address_is_none),
		TEST(bytes_that_are_no_message_are_refused),
		TEST(only_a_creation_has_a_row_of_created_links),
		TEST(an_event_of_a_link_has_a_time_a_code_and_a_link),
	};

	return cmocka_run_group_tests_name("enricher", tests, NULL, NULL);
}
