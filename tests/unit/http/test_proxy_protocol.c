/* Headers of the PROXY protocol, each also byte by byte. */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <string.h>

#include "common/http/proxy_protocol.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
/* 192.0.2.7:4711 to 198.51.100.1:443 */
#define FROM_TO "\xc0\x00\x02\x07\xc6\x33\x64\x01\x12\x67\x01\xbb"
#define FROM_TO_6                                                              \
	"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07"                           \
	"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"                           \
	"\x12\x67\x01\xbb"

static enum proxy_found parse_header_copy(const char *bytes, size_t len,
					  struct proxy_header *ret,
					  const char **ret_wrong)
{
	uint8_t *copy = malloc(
		len ? len : 1); /* a sanitizer reports reads beyond its end */
	enum proxy_found found;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	found = proxy_header_parse(copy, len, ret, ret_wrong);
	free(copy);
	return found;
}

/* The header must be complete with its last byte and not before, whatever
 * follows it. */
static struct proxy_header parse_whole_header(const char *bytes, size_t len)
{
	struct proxy_header got = {0}, again = {0};
	const char *wrong = NULL;
	char more[PROXY_HEADER_MAX + 64];

	for (size_t n = 0; n < len; n++) {
		if (parse_header_copy(bytes, n, &got, &wrong) != PROXY_MORE)
			fail_msg("byte %zu of %zu: %s", n, len, wrong);
	}
	if (parse_header_copy(bytes, len, &got, &wrong) != PROXY_COMPLETE)
		fail_msg("refused: %s", wrong);
	assert_int_equal(got.len, len);
	memcpy(more, bytes, len);
	strcpy(more + len, "GET / HTTP/1.1\r\n");
	assert_int_equal(parse_header_copy(more, len + 10, &again, &wrong),
			 PROXY_COMPLETE);
	assert_memory_equal(&again, &got, sizeof(got));
	return got;
}

static void is_from(const struct proxy_header *got, const char *ip,
		    unsigned port)
{
	char text[INET6_ADDRSTRLEN];
	const void *source = &got->source;
	const struct sockaddr_in *in = source;
	const struct sockaddr_in6 *in6 = source;

	assert_true(got->has_source);
	if (got->source.ss_family == AF_INET) {
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
		assert_int_equal(ntohs(in->sin_port), port);
	} else {
		assert_int_equal(got->source.ss_family, AF_INET6);
		inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
		assert_int_equal(ntohs(in6->sin6_port), port);
	}
	assert_string_equal(text, ip);
}

/* The header must be refused at some byte, and from there on. */
static void is_refused(const char *bytes, size_t len, const char *why)
{
	struct proxy_header got = {0};
	const struct proxy_header nothing = {0};
	const char *wrong = "nothing";
	enum proxy_found found = PROXY_MORE;

	for (size_t n = 0; n <= len && found == PROXY_MORE; n++)
		found = parse_header_copy(bytes, n, &got, &wrong);
	if (found != PROXY_MALFORMED)
		fail_msg("accepted, though %s: %.60s", why, bytes);
	if (!strstr(wrong, why))
		fail_msg("'%s', expected '%s': %.60s", wrong, why, bytes);
	assert_int_equal(parse_header_copy(bytes, len, &got, &wrong),
			 PROXY_MALFORMED);
	assert_memory_equal(&got, &nothing, sizeof(got));
}

#define WHOLE(text)	   parse_whole_header(text, sizeof(text) - 1)
#define REFUSED(text, why) is_refused(text, sizeof(text) - 1, why)
#define V1(text)	   "PROXY " text "\r\n"

/* --- version 1 ------------------------------------------------------------ */

static void a_line_says_who_the_client_is(void **state)
{
	struct proxy_header got =
		WHOLE(V1("TCP4 192.0.2.7 198.51.100.1 4711 443"));

	(void)state;
	is_from(&got, "192.0.2.7", 4711);
	got = WHOLE(V1("TCP4 255.255.255.255 0.0.0.0 65535 0"));
	is_from(&got, "255.255.255.255", 65535);
	got = WHOLE(V1("TCP6 2001:db8::7 ::1 4711 443"));
	is_from(&got, "2001:db8::7", 4711);
	got = WHOLE(V1("TCP6 ::ffff:192.0.2.7 ::1 4711 443"));
	is_from(&got, "192.0.2.7", 4711);
	/* The longest headers, as the specification gives them. */
	got = WHOLE(V1("TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
		       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535"));
	assert_int_equal(got.len, 104);
}

static void a_line_may_leave_the_client_unknown(void **state)
{
	(void)state;
	assert_false(WHOLE(V1("UNKNOWN")).has_source);
	assert_false(WHOLE(V1("UNKNOWN \xff anything \r at all\n")).has_source);
	assert_int_equal(WHOLE(V1("UNKNOWN "
				  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
				  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
				  "65535 65535"))
				 .len,
			 107);
}

static void a_line_has_two_addresses(void **state)
{
	static const char why[] = "two addresses";

	(void)state;
	REFUSED(V1("TCP4"), why);
	REFUSED(V1("TCP4 "), why);
	REFUSED(V1("TCP4 1.1.1.1"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2"), why);
	REFUSED(V1("TCP4 1.1.1 2.2.2.2 1 2"), why);
	REFUSED(V1("TCP4 1.1.1.01 2.2.2.2 1 2"), why);
	REFUSED(V1("TCP4 1.1.1.256 2.2.2.2 1 2"), why);
	REFUSED(V1("TCP4 ::1 ::1 1 2"), why);
	REFUSED(V1("TCP6 1.1.1.1 2.2.2.2 1 2"), why);
	REFUSED(V1("TCP6 ::1%lo ::1 1 2"), why);
	REFUSED(V1("TCP6 [::1] ::1 1 2"), why);
	REFUSED(V1("TCP4 1.1.1.1\0x 2.2.2.2 1 2"), why);
	REFUSED(V1("TCP4  1.1.1.1 2.2.2.2 1 2"), why);
	REFUSED(V1("TCP4\t1.1.1.1 2.2.2.2 1 2"), "protocol");
}

static void a_line_has_two_ports(void **state)
{
	static const char why[] = "two ports";

	(void)state;
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 1"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 1 "), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 1  2"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 01 2"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 00 2"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 65536 2"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 1 100000"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 -1 2"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 +1 2"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 1 2 "), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 1 2 3"), why);
	REFUSED(V1("TCP4 1.1.1.1 2.2.2.2 1 2\n"), why);
}

static void other_lines_are_refused(void **state)
{
	(void)state;
	REFUSED("GET / HTTP/1.1\r\n", "no PROXY header");
	REFUSED("proxy TCP4 1.1.1.1 2.2.2.2 1 2\r\n", "no PROXY header");
	REFUSED("PROXYTCP4 1.1.1.1 2.2.2.2 1 2\r\n", "no PROXY header");
	REFUSED(" PROXY UNKNOWN\r\n", "no PROXY header");
	REFUSED(V1(""), "protocol");
	REFUSED(V1(" UNKNOWN"), "protocol");
	REFUSED(V1("UNKNOWNS"), "protocol");
	REFUSED(V1("UDP4 1.1.1.1 2.2.2.2 1 2"), "protocol");
	REFUSED(V1("tcp4 1.1.1.1 2.2.2.2 1 2"), "protocol");
}

static void a_line_ends_within_107_bytes(void **state)
{
	char line[200];
	struct proxy_header got;
	const char *wrong = NULL;

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, "PROXY UNKNOWN ", sizeof("PROXY UNKNOWN ") - 1);
	assert_int_equal(parse_header_copy(line, 106, &got, &wrong),
			 PROXY_MORE);
	assert_int_equal(parse_header_copy(line, 107, &got, &wrong),
			 PROXY_MALFORMED);
	line[106] = '\r';
	line[107] = '\n';
	is_refused(line, 108, "too long");
}

/* --- version 2 ------------------------------------------------------------ */

static void a_block_says_who_the_client_is(void **state)
{
	struct proxy_header got = WHOLE(SIGNATURE "\x21\x11\0\x0c" FROM_TO);

	(void)state;
	is_from(&got, "192.0.2.7", 4711);
	got = WHOLE(SIGNATURE "\x21\x12\0\x0c" FROM_TO); /* for datagrams */
	is_from(&got, "192.0.2.7", 4711);
	got = WHOLE(SIGNATURE "\x21\x21\0\x24" FROM_TO_6);
	is_from(&got, "2001:db8::7", 4711);
}

static void a_block_may_leave_the_client_unknown(void **state)
{
	char local[232] = SIGNATURE "\x21\x31\0\xd8/run/a.sock";

	(void)state;
	assert_false(parse_whole_header(local, sizeof(local)).has_source);
	assert_false(WHOLE(SIGNATURE "\x21\0\0\0").has_source);
	assert_false(WHOLE(SIGNATURE "\x21\0\0\x02hm").has_source);
	assert_false(WHOLE(SIGNATURE "\x21\x10\0\x0c" FROM_TO).has_source);
	assert_false(WHOLE(SIGNATURE "\x21\x01\0\x0c" FROM_TO).has_source);
}

static void a_proxy_may_speak_for_itself(void **state)
{
	(void)state;
	assert_false(WHOLE(SIGNATURE "\x20\0\0\0").has_source);
	/* The address block is discarded, "including the family". */
	assert_false(WHOLE(SIGNATURE "\x20\x11\0\x0c" FROM_TO).has_source);
	assert_false(WHOLE(SIGNATURE "\x20\xff\0\x04rest").has_source);
}

static void what_version_2_does_not_know_is_refused(void **state)
{
	(void)state;
	REFUSED("\r\n\r\nGET", "no PROXY header");
	REFUSED(SIGNATURE "\x11\x11\0\x0c" FROM_TO, "version");
	REFUSED(SIGNATURE "\x31\x11\0\x0c" FROM_TO, "version");
	REFUSED(SIGNATURE "\x22\x11\0\x0c" FROM_TO, "command");
	REFUSED(SIGNATURE "\x21\x41\0\x0c" FROM_TO, "family");
	REFUSED(SIGNATURE "\x21\x13\0\x0c" FROM_TO, "transport");
}

static void a_block_holds_its_addresses(void **state)
{
	(void)state;
	REFUSED(SIGNATURE "\x21\x11\0\x0b" FROM_TO, "too short");
	REFUSED(SIGNATURE "\x21\x21\0\x23" FROM_TO_6, "too short");
	REFUSED(SIGNATURE "\x21\x31\0\x0c" FROM_TO, "too short");
}

static void other_fields_are_passed_over(void **state)
{
	struct proxy_header got =
		WHOLE(SIGNATURE "\x21\x11\0\x17" FROM_TO "\x02\0\x05s.exa"
				"\xe0\0\0");

	(void)state;
	is_from(&got, "192.0.2.7", 4711);
}

static void fields_fill_the_block(void **state)
{
	(void)state;
	REFUSED(SIGNATURE "\x21\x11\0\x0e" FROM_TO "\x02\0", "cut off");
	REFUSED(SIGNATURE "\x21\x11\0\x10" FROM_TO "\x02\0\x02x", "longer");
	REFUSED(SIGNATURE "\x21\x11\0\x10" FROM_TO "\x02\xff\xffx", "longer");
}

static void a_block_has_a_bound(void **state)
{
	static const char head[] =
		SIGNATURE "\x21\x11\x0f\xf0" FROM_TO "\x04\x0f\xe1";
	char *long_one = calloc(1, PROXY_HEADER_MAX + 1);

	(void)state;
	memcpy(long_one, head, sizeof(head) - 1);
	assert_true(parse_whole_header(long_one, PROXY_HEADER_MAX).has_source);
	long_one[15] = (char)0xf1;
	is_refused(long_one, PROXY_HEADER_MAX + 1, "too long");
	free(long_one);
}

/* --- the checksum ----------------------------------------------------------
 */

#define CHECKED                                                                \
	SIGNATURE "\x21\x11\0\x1a" FROM_TO "\x03\0\x04@@@@"                    \
		  "\x02\0\x04s.ex"

static void fill_checked(char *bytes, const char sum[4])
{
	memcpy(bytes, CHECKED, sizeof(CHECKED) - 1);
	memcpy(bytes + 31, sum, 4);
}

static void a_checksum_is_verified(void **state)
{
	/* The sum is from a program with a table, whose checksum of "123456789"
	 * is the catalogues' value, e3069283. */
	static const char sum[] = "\xce\x80\x06\xa4";
	char bytes[sizeof(CHECKED) - 1];
	struct proxy_header got;

	(void)state;
	fill_checked(bytes, sum);
	got = parse_whole_header(bytes, sizeof(bytes));
	is_from(&got, "192.0.2.7", 4711);
	for (size_t i = 12; i < sizeof(bytes); i++) {
		struct proxy_header none;
		const char *wrong = NULL;

		bytes[i] ^= 1;
		/* Other bits change the meaning of the bytes, so they are not
		 * compared. */
		if (i >= 16 && (i < 28 || i > 30))
			assert_int_equal(parse_header_copy(bytes, sizeof(bytes),
							   &none, &wrong),
					 PROXY_MALFORMED);
		bytes[i] ^= 1;
	}
}

static void a_checksum_is_one_of_four_bytes(void **state)
{
	(void)state;
	REFUSED(SIGNATURE "\x21\x11\0\x12" FROM_TO "\x03\0\x03xxx", "checksum");
	REFUSED(SIGNATURE "\x21\x11\0\x1a" FROM_TO "\x03\0\x04xxxx"
			  "\x03\0\x04xxxx",
		"checksum");
	REFUSED(SIGNATURE "\x21\x11\0\x13" FROM_TO "\x03\0\x04\0\0\0\0",
		"wrong");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_says_who_the_client_is),
		cmocka_unit_test(a_line_may_leave_the_client_unknown),
		cmocka_unit_test(a_line_has_two_addresses),
		cmocka_unit_test(a_line_has_two_ports),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(a_line_ends_within_107_bytes),
		cmocka_unit_test(a_block_says_who_the_client_is),
		cmocka_unit_test(a_block_may_leave_the_client_unknown),
		cmocka_unit_test(a_proxy_may_speak_for_itself),
		cmocka_unit_test(what_version_2_does_not_know_is_refused),
		cmocka_unit_test(a_block_holds_its_addresses),
		cmocka_unit_test(other_fields_are_passed_over),
		cmocka_unit_test(fields_fill_the_block),
		cmocka_unit_test(a_block_has_a_bound),
		cmocka_unit_test(a_checksum_is_verified),
		cmocka_unit_test(a_checksum_is_one_of_four_bytes),
	};

	return cmocka_run_group_tests_name("proxy_protocol", tests, NULL, NULL);
}
