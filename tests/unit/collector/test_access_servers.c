/* Formats that servers write, by name and detected. */
#include "tests/unit/collector/access_world.h"

#define CLF	"203.0.113.12 - - [17/May/2015:10:05:03 +0000] "
#define REQUEST "\"GET /abc?x=y HTTP/1.1\""
#define ENDING	" \"https://a.example/\" \"Mozilla/5.0 (X)\""
#define TRACE	"\"Root=1-58337262-36d228ad5d99923122bbe354\""

/* Formats of servers that no test can run are from their documentation;
 * test_import_servers.py also has lines that the other servers wrote
 * themselves. */
static const struct {
	const char *name;  /* --format */
	const char *found; /* the format that auto detects */
	const char *head;  /* a line before it, or NULL */
	const char *line;
	const char *agent, *host;
} servers[] = {
	{"nginx", "combined", NULL, CLF REQUEST " 302 138" ENDING,
	 "Mozilla/5.0 (X)", ""},
	{"main", "main", NULL,
	 "10.0.0.1 - - [17/May/2015:10:05:03 +0000] " REQUEST " 302 138" ENDING
	 " \"203.0.113.12, 10.0.0.9\"",
	 "Mozilla/5.0 (X)", ""},
	{"apache", "combined", NULL, CLF REQUEST " 302 138" ENDING,
	 "Mozilla/5.0 (X)", ""},
	{"common", "common", NULL, CLF REQUEST " 302 138", "", ""},
	{"vhost_combined", "vhost_combined", NULL,
	 "go.example:443 " CLF REQUEST " 302 138" ENDING, "Mozilla/5.0 (X)",
	 "go.example"},
	{"vhost", "vhost", NULL, "go.example " CLF REQUEST " 302 138" ENDING,
	 "Mozilla/5.0 (X)", "go.example"},
	{"vhost_common", "vhost_common", NULL,
	 "go.example " CLF REQUEST " 302 138", "", "go.example"},
	{"lighttpd", "lighttpd", NULL,
	 "203.0.113.12 go.example - [17/May/2015:10:05:03 +0000] " REQUEST
	 " 302 0" ENDING,
	 "Mozilla/5.0 (X)", "go.example"},
	{"haproxy", "haproxy", NULL,
	 "May 17 12:05:03 lb haproxy[14389]: 203.0.113.12:33317 "
	 "[17/May/2015:10:05:03.000] web~ static/srv1 10/0/30/69/109 302 2750 "
	 "- - ---- 1/1/1/1/0 0/0 {1wt.eu} {} " REQUEST,
	 "", ""},
	{"haproxy", "haproxy", NULL,
	 "2001:db8::1:33317 [17/May/2015:10:05:03.000] web static/srv1 "
	 "10/0/30/69/109 302 2750 - - ---- 1/1/1/1/0 0/0 " REQUEST,
	 "", ""},
	{"caddy", "json", NULL,
	 "{\"level\":\"info\",\"ts\":1431857103.000123,\"logger\":"
	 "\"http.log.access\",\"msg\":\"handled request\",\"request\":{"
	 "\"remote_ip\":\"10.0.0.1\",\"remote_port\":\"41342\",\"client_ip\":"
	 "\"203.0.113.12\",\"proto\":\"HTTP/2.0\",\"method\":\"GET\",\"host\":"
	 "\"go.example\",\"uri\":\"/abc?x=y\",\"headers\":{\"User-Agent\":["
	 "\"Mozilla/5.0 (X)\"],\"Referer\":[\"https://a.example/\"]}},"
	 "\"duration\":0.004,\"size\":0,\"status\":302,\"resp_headers\":{"
	 "\"Server\":[\"Caddy\"]}}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"traefik", "combined", NULL,
	 CLF REQUEST " 302 34" ENDING
		     " 17 \"go@docker\" \"http://10.0.0.2:80\" 5ms",
	 "Mozilla/5.0 (X)", ""},
	{"traefik-json", "json", NULL,
	 "{\"ClientAddr\":\"203.0.113.12:51234\",\"ClientHost\":"
	 "\"203.0.113.12\",\"ClientPort\":\"51234\",\"DownstreamStatus\":302,"
	 "\"OriginStatus\":0,\"RequestHost\":\"go.example\",\"RequestMethod\":"
	 "\"GET\",\"RequestPath\":\"/abc?x=y\",\"StartUTC\":"
	 "\"2015-05-17T10:05:03.000123456Z\",\"level\":\"info\",\"msg\":\"\","
	 "\"request_User-Agent\":\"Mozilla/5.0 (X)\",\"request_Referer\":"
	 "\"https://a.example/\",\"time\":\"2015-05-17T10:05:09Z\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"alb", "alb", NULL,
	 "https 2015-05-17T10:05:03.000186Z app/my/50dc6c495c0c9188 "
	 "203.0.113.12:2817 10.0.0.1:80 0.086 0.048 0.037 302 302 0 57 "
	 "\"GET https://www.example.com:443/abc?x=y HTTP/1.1\" "
	 "\"Mozilla/5.0 (X)\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 "
	 "arn:aws:elasticloadbalancing:us-east-2:1:targetgroup/t/73e2 " TRACE
	 " \"go.example\" \"arn:aws:acm:us-east-2:1:certificate/1\" 1 "
	 "2015-05-17T10:05:02.186641Z \"authenticate,forward\" \"-\" \"-\" "
	 "\"10.0.0.1:80\" \"302\" \"-\" \"-\" TID_x",
	 "Mozilla/5.0 (X)", "go.example"},
	{"elb", "elb", NULL,
	 "2015-05-17T10:05:03.000945Z my-lb 203.0.113.12:2817 10.0.0.1:80 "
	 "0.000073 0.001048 0.000057 302 302 0 29 \"GET "
	 "http://www.example.com:80/abc?x=y HTTP/1.1\" \"Mozilla/5.0 (X)\" - "
	 "-",
	 "Mozilla/5.0 (X)", ""},
	{"cloudfront", "w3c",
	 "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) "
	 "cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query "
	 "cs(Cookie) x-edge-result-type x-edge-request-id x-host-header "
	 "cs-protocol cs-bytes time-taken x-forwarded-for",
	 "2015-05-17\t10:05:03\tLAX1\t2390282\t203.0.113.12\tGET\t"
	 "d111111abcdef8.cloudfront.net\t/abc\t302\thttps://a.example/\t"
	 "Mozilla/5.0%20(X)\tx=y\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGO==\t"
	 "go.example\thttps\t23\t0.001\t-",
	 "Mozilla/5.0 (X)", "go.example"},
	{"iis", "w3c",
	 "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port "
	 "cs-username c-ip cs(User-Agent) cs(Referer) cs-host sc-status "
	 "sc-substatus sc-win32-status time-taken",
	 "2015-05-17 10:05:03 10.0.0.1 GET /abc x=y 443 - 203.0.113.12 "
	 "Mozilla/5.0+(X) https://a.example/ go.example 302 0 0 15\r",
	 "Mozilla/5.0 (X)", "go.example"},
	{"s3", "s3", NULL,
	 "79a59df900b949e5 go-bucket [17/May/2015:10:05:03 +0000] 203.0.113.12 "
	 "- 3E57427F33A59F07 WEBSITE.GET.OBJECT abc " REQUEST
	 " 302 - - 113 7 -" ENDING " - s9lzHYrFp76ZVxRcpX9= - - - go.example -",
	 "Mozilla/5.0 (X)", ""},
	{"cloudflare", "json", NULL,
	 "{\"ClientIP\":\"203.0.113.12\",\"ClientRequestHost\":\"go.example\","
	 "\"ClientRequestMethod\":\"GET\",\"ClientRequestURI\":\"/abc?x=y\","
	 "\"ClientRequestReferer\":\"https://a.example/\","
	 "\"ClientRequestUserAgent\":\"Mozilla/5.0 (X)\","
	 "\"EdgeEndTimestamp\":1431857109000000000,\"EdgeResponseStatus\":302,"
	 "\"EdgeStartTimestamp\":1431857103000000000,\"RayID\":\"3a6b\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"gcp", "json", NULL,
	 "{\"httpRequest\":{\"requestMethod\":\"GET\",\"requestUrl\":"
	 "\"https://go.example/abc?x=y\",\"status\":302,\"userAgent\":"
	 "\"Mozilla/5.0 (X)\",\"remoteIp\":\"203.0.113.12\",\"referer\":"
	 "\"https://a.example/\"},\"insertId\":\"1\",\"receiveTimestamp\":"
	 "\"2015-05-17T10:05:09Z\",\"timestamp\":"
	 "\"2015-05-17T10:05:03.000123456Z\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"azure", "json", NULL,
	 "{\"time\":\"2015-05-17T10:05:03.0001234Z\",\"category\":"
	 "\"FrontDoorAccessLog\",\"properties\":{\"httpMethod\":\"GET\","
	 "\"requestUri\":\"https://go.example:443/abc?x=y\",\"clientIp\":"
	 "\"203.0.113.12\",\"clientPort\":\"4711\",\"socketIp\":\"10.0.0.1\","
	 "\"userAgent\":\"Mozilla/5.0 (X)\",\"referer\":\"https://a.example/\","
	 "\"httpStatusCode\":\"302\",\"hostName\":\"go.example\"}}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"akamai", "json", NULL,
	 "{\"cliIP\":\"203.0.113.12\",\"reqTimeSec\":\"1431857103.000\","
	 "\"reqMethod\":\"GET\",\"reqHost\":\"go.example\",\"reqPath\":\"/"
	 "abc\","
	 "\"queryStr\":\"x=y\",\"statusCode\":\"302\",\"UA\":"
	 "\"Mozilla/5.0 (X)\",\"referer\":\"https://a.example/\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"ecs", "json", NULL,
	 "{\"@timestamp\":\"2015-05-17T10:05:03.000Z\",\"client\":{\"ip\":"
	 "\"203.0.113.12\"},\"url\":{\"original\":\"/abc?x=y\",\"domain\":"
	 "\"go.example\"},\"http\":{\"request\":{\"method\":\"GET\","
	 "\"referrer\":\"https://a.example/\"},\"response\":{\"status_code\":"
	 "302}},\"user_agent\":{\"original\":\"Mozilla/5.0 (X)\"}}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"envoy", "envoy", NULL,
	 "[2015-05-17T10:05:03.000Z] " REQUEST
	 " 302 - 0 3 1 0 \"203.0.113.12\" \"Mozilla/5.0 (X)\" \"cc21d9b0\" "
	 "\"go.example\" \"10.0.0.1:80\"",
	 "Mozilla/5.0 (X)", "go.example"},
	{"istio", "istio", NULL,
	 "[2015-05-17T10:05:03.000Z] " REQUEST
	 " 302 - via_upstream - \"-\" 0 3 1 0 \"203.0.113.12\" "
	 "\"Mozilla/5.0 (X)\" \"cc21d9b0\" \"go.example\" \"10.0.0.1:80\" "
	 "inbound|80|| 127.0.0.6:1 10.0.0.2:80 10.0.0.3:4711 outbound_.80 "
	 "default",
	 "Mozilla/5.0 (X)", "go.example"},
	{"ingress-nginx", "combined", NULL,
	 CLF REQUEST " 302 138" ENDING " 423 0.007 [default-go-80] [] "
		     "10.0.0.2:80 138 0.007 302 cc21d9b0",
	 "Mozilla/5.0 (X)", ""},
	{"varnish", "combined", NULL,
	 CLF "\"GET http://go.example/abc?x=y HTTP/1.1\" 302 138" ENDING,
	 "Mozilla/5.0 (X)", "go.example"},
};

static void check_server(struct world *w, size_t i, const char *format)
{
	struct access_visit v;
	bool remark;

	access_format_free(w->f);
	w->err = (struct error){0};
	w->f = access_format_new(format, NULL, &w->rules, &w->err);
	assert_non_null(w->f);
	if (servers[i].head) {
		remark = access_format_remark(w->f, servers[i].head,
					      strlen(servers[i].head));
		assert_true(remark);
	}
	access_format_read(w->f, servers[i].line, strlen(servers[i].line), &v,
			   &w->err);
	assert_string_equal(w->err.text, "");
	assert_string_equal(access_format_name(w->f),
			    strcmp(format, "auto") ? servers[i].name
						   : servers[i].found);
	assert_int_equal(v.time_ms, MAY17);
	assert_text(v.method, "GET");
	assert_text(v.path, "/abc");
	assert_text(v.query, "x=y");
	assert_int_equal(v.status, 302);
	assert_text(v.user_agent, servers[i].agent);
	if (*servers[i].host)
		assert_text((struct access_text){v.host.data, v.host.len},
			    servers[i].host);
	if (v.ip_len == 4)
		assert_memory_equal(v.ip, FIRST, 4);
	else
		assert_memory_equal(v.ip, SIX, 16);
}

static void servers_own_formats_are_read_by_name_and_by_themselves(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		check_server(w, i, servers[i].name);
		check_server(w, i, "auto");
	}
}

static void a_log_in_columns_needs_their_names(void **state)
{
	struct world *w = *state;

	assert_int_equal(try_read_line(w, "iis", "2015-05-17 10:05:03 /abc"),
			 -1);
	assert_non_null(strstr(w->err.text, "#Fields"));
	assert_true(
		access_format_remark(w->f, "#Fields: date time cs-uri", 25));
	assert_int_equal(access_format_read(w->f, "2015-05-17 10:05:03", 19,
					    &w->v, &w->err),
			 -1);
	assert_non_null(strstr(w->err.text, "fewer columns"));
	assert_int_equal(access_format_read(w->f, "2015-05-17 10:05:03 /a b",
					    24, &w->v, &w->err),
			 -1);
	assert_non_null(strstr(w->err.text, "more columns"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCESS_TEST(
			servers_own_formats_are_read_by_name_and_by_themselves),
		ACCESS_TEST(a_log_in_columns_needs_their_names),
	};

	return cmocka_run_group_tests_name("access_servers", tests, NULL, NULL);
}
