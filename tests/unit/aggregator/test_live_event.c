#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/live/live_event.h"

#define ID "01234567-89ab-cdef-0000-00000000002a"
#define REST                                                                   \
	"\"ts\":\"2026-11-21T10:07:00.123Z\",\"code\":\"abc\","                \
	"\"domain\":\"go.example.com\",\"account\":\"acme\",\"owner\":"        \
	"\"ann\",\"country\":\"DE\","                                          \
	"\"verdict\":\"human\""
#define GOOD "{\"id\":\"" ID "\",\"link_id\":\"42\"," REST ",\"human\":true}"

static struct live_event *parse_event(const char *text, struct error *err)
{
	*err = (struct error){0};
	return live_event_parse(text, strlen(text), err);
}

static void assert_refused(const char *text, const char *says)
{
	struct error err;

	assert_null(parse_event(text, &err));
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("%s: %s", text, err.text);
}

static void an_event_is_made_anew_of_what_is_known(void **state)
{
	static const char text[] =
		"{ \"human\": true,\r\n\"id\":\"" ID "\",\"link_id\":\"42\","
		"\"reason\":\"a\\nb\\u2028\",\"ip\":\"8.8.8.8\"," REST "}";
	static const char sent[] =
		"event: click\nid: " ID "\ndata: {\"id\":\"" ID "\","
		"\"ts\":\"2026-11-21T10:07:00.123Z\",\"code\":\"abc\","
		"\"link_id\":\"42\",\"domain\":\"go.example.com\","
		"\"account\":\"acme\",\"owner\":\"ann\",\"country\":\"DE\","
		"\"verdict\":\"human\","
		"\"reason\":\"a\\nb\xe2\x80\xa8\",\"human\":true}\n\n";
	struct error err;
	struct live_event *e = parse_event(text, &err);

	(void)state;
	assert_non_null(e);
	assert_int_equal(e->len, strlen(sent));
	assert_memory_equal(e->text, sent, e->len);
	assert_int_equal(e->link_id, 42);
	assert_string_equal(e->account, "acme");
	assert_string_equal(e->owner, "ann");
	assert_true(e->human);
	live_event_release(e);
}

static void what_is_no_event_is_refused(void **state)
{
	char *much = calloc(1, LIVE_EVENT_MAX + 2);
	struct error err;

	(void)state;
	assert_refused("", "");
	assert_refused("[]", "expected an object");
	assert_refused("{}", "id: expected a text");
	assert_refused("{\"id\":\"" ID "\",\"id\":\"" ID "\"}", "duplicate");
	assert_refused("{\"id\":\"" ID "\",\"link_id\":42," REST
		       ",\"human\":true}",
		       "link_id: expected a text");
	assert_refused("{\"id\":\"" ID "\",\"link_id\":\"-1\"," REST
		       ",\"human\":true}",
		       "link_id: expected a whole number");
	assert_refused("{\"id\":\"x\",\"link_id\":\"42\"," REST
		       ",\"human\":true}",
		       "id: expected a UUID");
	assert_refused("{\"id\":\"0123456789abcdef0123456789abcdef\\n\\ndx\","
		       "\"link_id\":\"42\"," REST ",\"human\":true}",
		       "id: expected a UUID");
	assert_refused("{\"id\":\"" ID "\",\"link_id\":\"42\"," REST
		       ",\"human\":\"true\"}",
		       "human: expected true or false");
	assert_refused("{\"id\":\"" ID "\",\"link_id\":\"42\"," REST
		       ",\"human\":true,\"reason\":null}",
		       "reason: expected a text");
	assert_non_null(much);
	memset(much, ' ', LIVE_EVENT_MAX + 1);
	assert_null(live_event_parse(much, LIVE_EVENT_MAX + 1, &err));
	assert_int_equal(err.code, ERROR_INPUT);
	free(much);
}

static int parse_question(struct question *q, const char *query,
			  struct error *err)
{
	const struct aggregator_settings settings = {
		.groups_max = 50,
		.zoneinfo = (char[]){"/usr/share/zoneinfo"},
	};

	return question_parse(q, (struct http_slice){query, strlen(query)},
			      ASK_LINK | ASK_BOTS | ASK_LIVE, &settings, NULL,
			      NULL, err);
}

static void a_question_chooses(void **state)
{
	static const struct {
		const char *query;
		bool person, robot; /* whether it shows a click of that kind */
	} cases[] = {
		{"", true, false},
		{"bots=include", true, true},
		{"bots=only", false, true},
		{"verdict=human", true, false},
		{"verdict=bot", false, true},
		{"verdict=scanner", false, false},
		{"link_id=42&bots=include", true, false},
		{"account=acme&bots=include", true, false},
		{"account=acm&bots=include", false, false},
		{"owner=ann&bots=include", true, false},
		{"owner=&bots=include", false, true},
		{"country=DE", true, false},
		{"country=&bots=include", false, true},
		{"domain=go.example.com&bots=include", true, false},
		{"domain=go.example.org", false, false},
		{"owner=ann&country=FR", false, false},
		{"country=FR,DE", true, false},
		{"country=-FR&bots=include", true, true},
		{"verdict=-human", false, true},
	};
	struct error err = {0};
	struct live_event *person = parse_event(GOOD, &err);
	struct live_event *robot = parse_event(
		"{\"id\":\"" ID "\",\"link_id\":\"0\",\"ts\":\"\","
		"\"code\":\"\",\"domain\":\"\",\"account\":\"\",\"owner\":\"\","
		"\"country\":\"\",\"verdict\":\"bot\",\"human\":false}",
		&err);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct question q;

		assert_int_equal(parse_question(&q, cases[i].query, &err), 0);
		if (live_event_matches(person, &q) != cases[i].person ||
		    live_event_matches(robot, &q) != cases[i].robot)
			fail_msg("%s", cases[i].query);
		question_release(&q);
	}
	live_event_release(person);
	live_event_release(robot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_made_anew_of_what_is_known),
		cmocka_unit_test(what_is_no_event_is_refused),
		cmocka_unit_test(a_question_chooses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
