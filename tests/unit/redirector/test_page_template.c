#include "tests/unit/unit.h"

#include <sodium.h>
#include <string.h>

#include "redirector/pages/page_template.h"

#define LINKS "<a href=\"{{open}}\">o</a>\n<a href='{{fallback}}'>f</a>\n"

static struct page_template *make_page(const char *text)
{
	struct error err = {0};
	struct page_template *page = page_template_new(
		"p.html", (struct http_slice){text, strlen(text)}, &err);

	if (!page)
		fail_msg("%s", err.text);
	return page;
}

static void is_refused(const char *text, const char *says)
{
	struct error err = {0};

	assert_null(page_template_new(
		"p.html", (struct http_slice){text, strlen(text)}, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void expect_page(const char *text, const char *open, const char *want)
{
	struct page_template *page = make_page(text);
	struct buf out = {0};

	page_template_write(page,
			    (const struct http_slice[PAGE_VALUES]){
				    [PAGE_OPEN] = {open, strlen(open)},
				    [PAGE_FALLBACK] = {"https://f/", 10},
				    [PAGE_BROWSER] = {"qq", 2}},
			    &out);
	assert_string_equal(buf_cstr(&out), want);
	buf_free(&out);
	page_template_free(page);
}

static void has_head(const char *text, const char *line)
{
	struct page_template *page = make_page(text);
	struct http_slice head = page_template_head(page);

	if (!memmem(head.data, head.len, line, strlen(line)))
		fail_msg("no '%s' in:\n%.*s", line, (int)head.len, head.data);
	page_template_free(page);
}

/* --- values --------------------------------------------------------------- */

static void values_stand_in_text_and_between_quotes(void **state)
{
	(void)state;
	expect_page(LINKS "<p title = \"a {{browser}} b\">{{browser}}{{open}}",
		    "myapp://x",
		    "<a href=\"myapp://x\">o</a>\n<a href='https://f/'>f</a>\n"
		    "<p title = \"a qq b\">qqmyapp://x");
}

static void a_value_never_ends_what_it_stands_in(void **state)
{
	(void)state;
	expect_page(
		LINKS, "a:\"><script>alert('1')</script>&amp;{{open}}",
		"<a href=\"a:&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/"
		"script&gt;&amp;amp;{{open}}\">o</a>\n"
		"<a href='https://f/'>f</a>\n");
}

static void a_value_elsewhere_is_refused(void **state)
{
	(void)state;
	is_refused("\n<a href={{open}}>", "p.html:2: an attribute's value");
	is_refused("<a {{open}}>", "p.html:1: an attribute's name");
	is_refused("<{{open}}>", "p.html:1: a tag's name");
	is_refused("</{{open}}>", "p.html:1: a tag's name");
	is_refused("<p{{open}}>", "p.html:1: a tag's name");
	is_refused(LINKS "<script>\nvar a = \"{{open}}\";</script>",
		   "p.html:4: a value in a script or style");
	is_refused("<style>a{{{open}}}</style>", "p.html:1: a value in a");
}

static void an_unknown_value_is_refused(void **state)
{
	(void)state;
	is_refused("\n\n{{url}}", "p.html:3: {{ begins no value");
	is_refused("<a href=\"{{ open }}\">", "{{ begins no value");
	is_refused("{{open", "{{ begins no value");
	is_refused("{{", "{{ begins no value");
}

static void a_page_without_a_way_out_is_refused(void **state)
{
	(void)state;
	is_refused("<p>{{open}}\n", "p.html:2: ends without {{fallback}}");
	is_refused("<p>{{fallback}}", "p.html:1: ends without {{open}}");
	is_refused("", "p.html: is empty");
	is_refused("\r\n", "p.html:2: ends without {{open}}");
	is_refused("<!-- {{open}} {{fallback}} -->", "ends without {{open}}");
}

static void too_many_values_are_refused(void **state)
{
	char text[33 * 8 + 1] = "";

	(void)state;
	for (int i = 0; i < 33; i++)
		strcat(text, "{{open}}");
	is_refused(text, "more than 32 values");
}

/* --- the policy ----------------------------------------------------------- */

static void source_of(const char *text, char ret[64])
{
	unsigned char digest[32];
	char base64[45];

	crypto_hash_sha256(digest, (const unsigned char *)text, strlen(text));
	sodium_bin2base64(base64, sizeof(base64), digest, sizeof(digest),
			  sodium_base64_VARIANT_ORIGINAL);
	snprintf(ret, 64, "'sha256-%s'", base64);
}

static void a_page_without_scripts_and_styles_may_have_none(void **state)
{
	(void)state;
	has_head(LINKS, "\r\nContent-Security-Policy: default-src 'none'; "
			"img-src data:; base-uri 'none'; form-action 'none'; "
			"frame-ancestors 'none'\r\n");
}

static void scripts_and_styles_are_allowed_by_their_hashes(void **state)
{
	char a[64], b[64], c[64], line[512];

	(void)state;
	source_of("\na{}\n", a);
	source_of("one()", b);
	source_of(" if (a<b) two(\"{{\") ", c);
	snprintf(line, sizeof(line),
		 "default-src 'none'; script-src %s %s; style-src %s; img-src",
		 b, c, a);
	has_head(LINKS "<style>\na{}\n</style><script>one()</script>"
		       "<SCRIPT type=\"text/javascript\"> if (a<b) "
		       "two(\"{{\") </Script >",
		 line);
}

/* A browser converts line ends to LF before it computes the hash. */
static void line_ends_are_hashed_as_a_browser_has_them(void **state)
{
	char source[64];

	(void)state;
	source_of("\na\nb\n", source);
	has_head(LINKS "<script>\r\na\rb\r\n</script>", source);
}

static void what_the_policy_would_break_is_refused(void **state)
{
	(void)state;
	is_refused("<p onclick=\"x()\">", "p.html:1: the page's policy");
	is_refused("<p\n ONload>", "p.html:2: the page's policy");
	is_refused("<p style=\"a:b\">", "the page's policy");
	is_refused("<iframe srcdoc='x'>", "the page's policy");
	is_refused("<script src=\"https://a/\"></script>",
		   "scripts from elsewhere");
}

static void what_is_cut_off_is_named_where_it_begins(void **state)
{
	(void)state;
	is_refused("\n<script>a\n\n", "p.html:2: the script that begins here");
	is_refused("<style>a</script>", "p.html:1: the style that begins");
	is_refused("\n<!-- a", "p.html:2: the comment that begins here");
	is_refused("\n\n<a href=\"b\n\n", "p.html:3: the quote that begins");
	is_refused("\n<a ", "p.html:2: the tag that begins here");
	is_refused("<script><!-- </script>", "<!-- in a script");
}

static void unusual_tags_are_refused(void **state)
{
	(void)state;
	is_refused("<a href=b\"c>", "needs quotes");
	is_refused("<a href=>", "lacks its value");
	is_refused("<a \"b\">", "an attribute's name has a quote");
	is_refused("<a =\"b\">", "= without");
	is_refused("<a <b>", "an attribute's name has");
}

static void usual_tags_are_taken(void **state)
{
	(void)state;
	page_template_free(
		make_page("<!doctype html><html lang=en>" LINKS
			  "<br/><hr /><input disabled><p a='1'b=\"2\">"
			  "1 < 2 <3</p ></style><!-- <b {{x -->"));
}

static void a_page_is_text(void **state)
{
	static const char zero[] = "a\n\0";
	struct error err = {0};

	(void)state;
	is_refused("a\n\xff", "p.html:2: is not UTF-8");
	assert_null(page_template_new("p.html", (struct http_slice){zero, 3},
				      &err));
	assert_string_equal(err.text, "p.html:2: a zero byte");
}

/* --- files ---------------------------------------------------------------- */

static void a_file_is_read(void **state)
{
	char path[64];
	struct error err = {0};
	struct page_template *page =
		page_template_load(unit_write_file(LINKS, path), &err);

	(void)state;
	unlink(path);
	assert_non_null(page);
	page_template_free(page);
}

static void a_file_that_is_not_there_or_too_long_is_refused(void **state)
{
	char *text = malloc(PAGE_BYTES_MAX + 2), path[64];
	struct error err = {0};

	(void)state;
	assert_non_null(text);
	memset(text, 'a', PAGE_BYTES_MAX + 1);
	text[PAGE_BYTES_MAX + 1] = '\0';
	assert_null(page_template_load(unit_write_file(text, path), &err));
	assert_non_null(strstr(err.text, "is longer than 65536 bytes"));
	unlink(path);
	assert_null(page_template_load(path, &err));
	assert_non_null(strstr(err.text, path));
	assert_int_equal(err.code, ERROR_CONFIG);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_stand_in_text_and_between_quotes),
		cmocka_unit_test(a_value_never_ends_what_it_stands_in),
		cmocka_unit_test(a_value_elsewhere_is_refused),
		cmocka_unit_test(an_unknown_value_is_refused),
		cmocka_unit_test(a_page_without_a_way_out_is_refused),
		cmocka_unit_test(too_many_values_are_refused),
		cmocka_unit_test(
			a_page_without_scripts_and_styles_may_have_none),
		cmocka_unit_test(
			scripts_and_styles_are_allowed_by_their_hashes),
		cmocka_unit_test(line_ends_are_hashed_as_a_browser_has_them),
		cmocka_unit_test(what_the_policy_would_break_is_refused),
		cmocka_unit_test(what_is_cut_off_is_named_where_it_begins),
		cmocka_unit_test(unusual_tags_are_refused),
		cmocka_unit_test(usual_tags_are_taken),
		cmocka_unit_test(a_page_is_text),
		cmocka_unit_test(a_file_is_read),
		cmocka_unit_test(
			a_file_that_is_not_there_or_too_long_is_refused),
	};

	return cmocka_run_group_tests_name("page_template", tests, NULL, NULL);
}
