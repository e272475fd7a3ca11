#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "common/keys/key_line.h"
#include "linkstore/domains.h"
#include "linkstore/domains_config.h"

struct sections {
	struct links_config links;
	struct domains_config domains;
};

static const struct setting_group groups[] = {
	{.section = &links_section, .offset = offsetof(struct sections, links)},
	{.section = &domains_section,
	 .offset = offsetof(struct sections, domains)},
};

static const struct config_spec spec = {groups, 2, NULL};

#define SPACES                                                                 \
	"links: {spaces: [{name: s7, number: 1, length: 7, keys: [{version: "  \
	"0, key: \"env:SHORTLOOP_TEST_KEY\"}]}, {name: s8, number: 2, "        \
	"length: 8, keys: [{version: 0, key: "                                 \
	"\"env:SHORTLOOP_TEST_KEY\"}]}]}\n"

/* The domains point into the configuration, so it must not move. */
struct world {
	struct sections *config;
	struct domains *domains;
};

static int load_domains(struct world *w, const char *domains, struct error *err)
{
	char text[4096], path[64];
	int status;

	*w = (struct world){.config = calloc(1, sizeof(*w->config))};
	assert_non_null(w->config);
	snprintf(text, sizeof(text), SPACES "%s", domains);
	status =
		config_load(&spec, unit_write_file(text, path), w->config, err);
	unlink(path);
	if (status == 0)
		status = domains_config_validate(&w->config->domains,
						 &w->config->links, err);
	if (status == 0)
		w->domains = domains_open(&w->config->domains, NULL, NULL, err);
	return status;
}

static void release_world(struct world *w)
{
	domains_free(w->domains);
	config_release(&spec, w->config);
	free(w->config);
}

static struct world make_world(const char *domains)
{
	struct world w;
	struct error err = {0};

	if (load_domains(&w, domains, &err) < 0)
		fail_msg("%s: %s", domains, err.text);
	return w;
}

static void assert_refused(const char *domains, const char *says)
{
	struct world w;
	struct error err = {0};

	assert_int_equal(load_domains(&w, domains, &err), -1);
	release_world(&w);
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static const char two[] =
	"domains:\n"
	"  default: promo\n"
	"  list:\n"
	"    - {name: main, hosts: [Sho.rt, b\xc3\xbc"
	"cher.example]}\n"
	"    - {name: promo, hosts: [promo.example], scheme: http, "
	"spaces: [s8], fallback_url: \"https://www.example.org/\"}\n";

static void without_any_there_is_nothing_to_say(void **state)
{
	struct world w = make_world("");

	(void)state;
	assert_int_equal(domains_count(w.domains), 0);
	assert_null(domains_default(w.domains));
	assert_null(domains_named(w.domains, ""));
	assert_null(domains_by_host(w.domains, "sho.rt", 6));
	assert_string_equal(domains_base_url(w.domains, ""),
			    "http://localhost:8080");
	assert_string_equal(domains_base_url(w.domains, "gone"),
			    "http://localhost:8080");
	release_world(&w);
}

static const char *find_domain_name(const struct world *w, const char *host)
{
	const struct link_domain *d =
		domains_by_host(w->domains, host, strlen(host));

	return d ? d->name : "none";
}

static void a_host_is_found_in_every_form_of_it(void **state)
{
	struct world w = make_world(two);

	(void)state;
	assert_string_equal(find_domain_name(&w, "sho.rt"), "main");
	assert_string_equal(find_domain_name(&w, "SHO.rt:8080"), "main");
	assert_string_equal(find_domain_name(&w, "sho.rt."), "main");
	assert_string_equal(find_domain_name(&w, "sho.rt.:443"), "main");
	assert_string_equal(find_domain_name(&w, "xn--bcher-kva.example"),
			    "main");
	assert_string_equal(find_domain_name(&w, "promo.example"), "promo");
	assert_string_equal(find_domain_name(&w, "www.sho.rt"), "none");
	assert_string_equal(find_domain_name(&w, ""), "none");
	assert_string_equal(find_domain_name(&w, "."), "none");
	assert_string_equal(find_domain_name(&w, ":80"), "none");
	release_world(&w);
}

static void a_short_url_is_made_with_the_first_host(void **state)
{
	struct world w = make_world(two);

	(void)state;
	assert_string_equal(domains_base_url(w.domains, "main"),
			    "https://sho.rt");
	assert_string_equal(domains_base_url(w.domains, "promo"),
			    "http://promo.example");
	release_world(&w);
}

static void a_name_that_is_no_domain_gets_the_default(void **state)
{
	struct world w = make_world(two);

	(void)state;
	assert_string_equal(domains_default(w.domains)->name, "promo");
	assert_string_equal(domains_base_url(w.domains, ""),
			    "http://promo.example");
	assert_string_equal(domains_base_url(w.domains, "gone"),
			    "http://promo.example");
	release_world(&w);
}

static void the_first_is_the_default_unless_said(void **state)
{
	struct world w = make_world("domains: {list: [{name: a, hosts: [a.a]}, "
				    "{name: b, hosts: [b.b]}]}\n");

	(void)state;
	assert_string_equal(domains_default(w.domains)->name, "a");
	release_world(&w);
}

static void a_base_url_may_have_a_port_and_a_path(void **state)
{
	struct world w =
		make_world("domains: {list: [{name: a, hosts: [x.y, a.a], "
			   "base_url: \"http://a.a:8080/s\"}]}\n");

	(void)state;
	assert_string_equal(domains_base_url(w.domains, "a"),
			    "http://a.a:8080/s");
	release_world(&w);
}

static void a_domain_allows_the_spaces_it_names(void **state)
{
	struct world w = make_world(two);
	const struct link_domain *main = domains_named(w.domains, "main"),
				 *promo = domains_named(w.domains, "promo");

	(void)state;
	assert_true(domains_allow(main, "s7"));
	assert_true(domains_allow(main, "s8"));
	assert_false(domains_allow(promo, "s7"));
	assert_true(domains_allow(promo, "s8"));
	assert_null(main->fallback_url);
	assert_string_equal(promo->fallback_url, "https://www.example.org/");
	release_world(&w);
}

static void a_domain_tells_whose_it_is(void **state)
{
	struct world w = make_world(
		"domains:\n"
		"  default: b\n"
		"  list:\n"
		"    - {name: a, hosts: [a.a], accounts: [acme, shop-2.x_Y]}\n"
		"    - {name: b, hosts: [b.b], accounts: [\"*\"]}\n"
		"    - {name: c, hosts: [c.c]}\n");
	const struct link_domain *a = domains_named(w.domains, "a"),
				 *b = domains_named(w.domains, "b"),
				 *c = domains_named(w.domains, "c");

	(void)state;
	assert_int_equal(a->accounts->count, 2);
	assert_string_equal(a->accounts->items[1], "shop-2.x_Y");
	assert_string_equal(b->accounts->items[0], "*");
	assert_int_equal(c->accounts->count, 0);
	assert_false(a->is_default || c->is_default);
	assert_true(b->is_default);
	release_world(&w);
}

#define ONE(more) "domains: {list: [{name: a, hosts: [a.a]" more "}]}\n"

static void what_contradicts_itself_is_refused(void **state)
{
	(void)state;
	assert_refused("domains: {list: [{name: a, hosts: [a.a]}, "
		       "{name: b, hosts: [x.x, A.A.]}]}\n",
		       "the host a.a is in both a and b");
	assert_refused("domains: {list: [{name: a, hosts: [a.a, A.a]}]}\n",
		       "twice");
	assert_refused("domains: {list: [{name: a, hosts: [a.a]}, "
		       "{name: a, hosts: [b.b]}]}\n",
		       "a is there twice");
	assert_refused("domains: {default: c, list: [{name: a, hosts: [a.a]}]}"
		       "\n",
		       "domains.default: 'c'");
	assert_refused("domains: {default: c}\n", "domains.default: 'c'");
	assert_refused(ONE(", spaces: [s9]"), "'s9' is not one of");
	assert_refused(ONE(", accounts: [x, y, x]"), "x is there twice");
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_refused("domains: {list: [{name: a, hosts: []}]}\n", "no hosts");
	assert_refused("domains: {list: [{name: a}]}\n", "hosts: is required");
	assert_refused("domains: {list: [{name: \"a b\", hosts: [a.a]}]}\n",
		       "expected a name");
	assert_refused("domains: {list: [{name: a, hosts: [\"a.a:80\"]}]}\n",
		       "hosts: the host");
	assert_refused(ONE(", scheme: ftp"), "https, http");
	assert_refused(ONE(", accounts: [\"a b\"]"),
		       "accounts: 'a b': expected");
	assert_refused(ONE(", accounts: [\"\"]"), "accounts: '': expected");
	assert_refused(ONE(", accounts: [\"ac*\"]"), "accounts: 'ac*'");
	assert_refused(ONE(", accounts: [\"b\xc3\xbc\"]"), "accounts: 'b");
	assert_refused(ONE(", fallback_url: \"javascript:x\""), "fallback_url");
	assert_refused(ONE(", fallback_url: \"https://\""), "fallback_url");
	assert_refused(ONE(", base_url: \"https://b.b\""), "not one of");
	assert_refused(ONE(", base_url: \"https://a.a/\""), "no slash");
	assert_refused(ONE(", base_url: \"a.a\""), "https://host");
	assert_refused(ONE(", base_url: \"https://a.a:0\""), "port");
	assert_refused(ONE(", base_url: \"https://a.a:65536\""), "port");
	assert_refused(ONE(", base_url: \"https://a.a/?\""), "https://host");
	assert_refused("domains: {base_url: \"https://a.a/\"}",
		       "domains.base_url: ");
}

static void assert_taken(const char *domains)
{
	struct world w = make_world(domains);

	release_world(&w);
}

static void the_name_of_a_domain_has_a_bound(void **state)
{
	char name[DOMAIN_NAME_MAX + 1], text[256];

	(void)state;
	memset(name, 'a', DOMAIN_NAME_MAX);
	name[DOMAIN_NAME_MAX] = '\0';
	snprintf(text, sizeof(text),
		 "domains: {list: [{name: %s, hosts: [a.a]}]}", name);
	assert_refused(text, "expected a name of 1 to 64 of [0-9A-Za-z._-]");
	name[DOMAIN_NAME_MAX - 1] = '\0';
	snprintf(text, sizeof(text),
		 "domains: {list: [{name: %s, hosts: [a.a]}]}", name);
	assert_taken(text);
	assert_refused("domains: {list: [{name: \"\", hosts: [a.a]}]}",
		       "expected a name of 1 to 64");
}

static void the_port_of_a_base_url_is_one(void **state)
{
	(void)state;
	assert_taken(ONE(", base_url: \"https://a.a:1\""));
	assert_taken(ONE(", base_url: \"https://a.a:65535\""));
	assert_taken(ONE(", base_url: \"https://a.a:00099/x\""));
	assert_refused(ONE(", base_url: \"https://a.a:000099\""),
		       "the port is");
	assert_refused(ONE(", base_url: \"https://a.a:\""), "the port is");
	assert_refused(ONE(", base_url: \"https://a.a:8x\""), "the port is");
	assert_refused(ONE(", base_url: \"https://a.a:8.1\""), "the port is");
	assert_refused(ONE(", base_url: \"https://a.a/[x]\""),
		       "brackets belong around an IPv6 address only");
	assert_refused(ONE(", base_url: \"https://a..a\""),
		       "domains.list: a: base_url: ");
	assert_refused(ONE(", base_url: \"https://\""), "https://host");
}

static void tag_is(const char *tag, bool taken)
{
	char text[512];

	snprintf(text, sizeof(text), ONE(", x_robots_tag: \"%s\""), tag);
	if (taken)
		assert_taken(text);
	else
		assert_refused(text, "x_robots_tag: expected rules such as "
				     "noindex, nofollow: 1 to 256 characters "
				     "of ASCII, without blanks around them");
}

static void a_robots_tag_is_the_value_of_a_header(void **state)
{
	char tag[258];

	(void)state;
	tag_is("noindex, nofollow", true);
	tag_is("~", true);
	tag_is("!~", true);
	tag_is("a\\x7fb", false);
	tag_is("a\\tb", false);
	tag_is("a\xc3\xbc", false);
	tag_is("", false);
	tag_is(" a", false);
	tag_is("a ", false);
	tag_is("a b", true);
	memset(tag, 'a', 257);
	tag[257] = '\0';
	tag_is(tag, false);
	tag[256] = '\0';
	tag_is(tag, true);
}

/* A key's name has the same length limit. */
static void the_name_of_an_account_has_a_bound(void **state)
{
	char name[API_KEY_NAME_MAX + 1], text[256], says[64];

	(void)state;
	memset(name, 'a', API_KEY_NAME_MAX);
	name[API_KEY_NAME_MAX] = '\0';
	snprintf(text, sizeof(text), ONE(", accounts: [%s]"), name);
	snprintf(says, sizeof(says), "expected \"*\" or a name of 1 to %d of",
		 API_KEY_NAME_MAX - 1);
	assert_refused(text, says);
	name[API_KEY_NAME_MAX - 1] = '\0';
	snprintf(text, sizeof(text), ONE(", accounts: [%s]"), name);
	assert_taken(text);
}

static void a_text_that_contradicts_itself_is_refused_and_named(void **state)
{
	struct world w = make_world("");
	struct domains_config config;
	struct error err = {0};

	(void)state;
	assert_int_equal(domains_config_parse("it", ONE(", spaces: [s9]"),
					      &w.config->links, &config, &err),
			 -1);
	assert_non_null(strstr(err.text, "it: domains.list: a: spaces: 's9'"));
	domains_config_release(&config);
	assert_null(config.list.items);
	release_world(&w);
}

/* --- domains.file --------------------------------------------------------- */

/* Opens a domains.file with that text; returns NULL if it is refused. */
static struct domains *open_file(const char *text, struct error *err)
{
	struct world w = make_world("");
	struct domains *domains;
	char path[64];

	w.config->domains.file = unit_write_file(text, path);
	domains = domains_open(&w.config->domains, &w.config->links, NULL, err);
	unlink(path);
	w.config->domains.file = NULL;
	release_world(&w);
	return domains;
}

static void domains_may_stand_in_a_file_of_their_own(void **state)
{
	struct error err = {0};
	struct domains *domains = open_file(ONE(""), &err);

	(void)state;
	assert_non_null(domains);
	assert_int_equal(domains_count(domains), 1);
	assert_non_null(domains_by_host(domains, "a.a", 3));
	domains_free(domains);
}

static void a_file_with_a_mistake_is_refused_and_named(void **state)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{"domains: {list: [{name: a}]}\n", "hosts: is required"},
		{ONE(", spaces: [s9]"), "'s9' is not one of"},
		{"domains: {file: /x}\n", "unknown key"},
		{"domains: {shared: true}\n", "unknown key"},
		{"redirector: {}\n", "redirector"},
		{"domains: [\n", "domains.file"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct error err = {0};

		assert_null(open_file(files[i].text, &err));
		assert_int_equal(err.code, ERROR_CONFIG);
		if (!strstr(err.text, files[i].says) ||
		    strncmp(err.text, "domains.file: /tmp/", 19))
			fail_msg("'%s'", err.text);
	}
}

static void rewrite_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void a_file_is_read_again_while_what_was_read_is_in_use(void **state)
{
	struct world w = make_world("");
	const struct link_domain *before, *after;
	struct error err = {0};
	char path[64];

	(void)state;
	w.config->domains.file = unit_write_file(ONE(", spaces: [s7]"), path);
	domains_free(w.domains);
	w.domains =
		domains_open(&w.config->domains, &w.config->links, NULL, &err);
	assert_non_null(w.domains);
	before = domains_named(w.domains, "a");
	assert_int_equal(domains_reload(w.domains, NULL, &err), 0);
	assert_ptr_equal(domains_named(w.domains, "a"), before); /* the same */
	rewrite_file(path, "domains: {list: [{name: b, hosts: [b.b, a.a]}]}\n");
	assert_int_equal(domains_reload(w.domains, NULL, &err), 0);
	after = domains_by_host(w.domains, "a.a", 3);
	assert_string_equal(after->name, "b");
	assert_null(domains_named(w.domains, "a"));
	assert_string_equal(domains_base_url(w.domains, "a"), "https://b.b");
	assert_string_equal(before->name, "a");
	assert_string_equal(before->base_url, "https://a.a");
	assert_false(domains_allow(before, "s8"));
	rewrite_file(path, "domains: {list: [{name: c}]}\n");
	assert_int_equal(domains_reload(w.domains, NULL, &err), -1);
	assert_ptr_equal(domains_default(w.domains), after);
	unlink(path);
	w.config->domains.file = NULL;
	release_world(&w);
}

/* Swapping a host a thousand times between two domains keeps only two versions
 * of the domains. */
static void a_reading_that_comes_back_is_kept_once(void **state)
{
	struct world w = make_world(ONE(""));
	const struct link_domain *first = domains_default(w.domains), *second;
	struct error err = {0};
	static const char other[] = ONE(", scheme: http");

	(void)state;
	assert_int_equal(domains_reload(w.domains, other, &err), 0);
	second = domains_default(w.domains);
	assert_string_equal(second->base_url, "http://a.a");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(domains_reload(w.domains, ONE(""), &err), 0);
		assert_ptr_equal(domains_default(w.domains), first);
		assert_int_equal(domains_reload(w.domains, other, &err), 0);
		assert_ptr_equal(domains_default(w.domains), second);
	}
	release_world(&w);
}

/* A change of a domain's account needs no restart either. */
static void a_change_of_accounts_is_a_change(void **state)
{
	struct world w = make_world(ONE(""));
	struct error err = {0};

	(void)state;
	assert_int_equal(
		domains_reload(w.domains, ONE(", accounts: [x]"), &err), 0);
	assert_int_equal(domains_default(w.domains)->accounts->count, 1);
	assert_int_equal(
		domains_reload(w.domains, ONE(", accounts: [y]"), &err), 0);
	assert_string_equal(domains_default(w.domains)->accounts->items[0],
			    "y");
	release_world(&w);
}

static void a_change_of_any_setting_is_taken(void **state)
{
	static const char *const changes[] = {
		ONE(", paused: true"),
		ONE(", x_robots_tag: noindex"),
		ONE(", robots_txt: /r"),
		ONE(", assetlinks: /a"),
		ONE(", fallback_url: \"https://f.example/\""),
		ONE("")};
	struct world w = make_world(ONE(""));
	const struct link_domain *before;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		before = domains_default(w.domains);
		assert_int_equal(domains_reload(w.domains, changes[i], &err),
				 0);
		assert_ptr_not_equal(domains_default(w.domains), before);
		assert_int_equal(domains_default(w.domains)->paused, i == 0);
	}
	release_world(&w);
}

static void shared_ones_go_before_those_of_the_configuration(void **state)
{
	struct world w = make_world(ONE(""));
	struct error err = {0};

	(void)state;
	assert_int_equal(domains_reload(w.domains,
					"domains: {list: [{name: b, hosts: "
					"[b.b]}]}\n",
					&err),
			 0);
	assert_string_equal(domains_default(w.domains)->name, "b");
	assert_int_equal(
		domains_reload(w.domains, "domains: {list: [{}]}", &err), -1);
	assert_non_null(strstr(err.text, "the domains in Redis: "));
	assert_string_equal(domains_default(w.domains)->name, "b");
	assert_int_equal(domains_reload(w.domains, "", &err), 0);
	assert_string_equal(domains_default(w.domains)->name, "a");
	release_world(&w);
}

static void a_text_says_the_same(const char *domains, const char *has)
{
	struct world w = make_world(domains);
	struct domains_config read;
	struct error err = {0};
	char *text = domains_config_text(&w.config->domains, &err), *again;

	assert_int_equal(
		domains_config_parse("x", text, &w.config->links, &read, &err),
		0);
	again = domains_config_text(&read, &err);
	assert_string_equal(text, again);
	assert_non_null(strstr(text, has));
	domains_config_release(&read);
	free(again);
	free(text);
	release_world(&w);
}

static void a_text_of_domains_says_the_same(void **state)
{
	(void)state;
	a_text_says_the_same(two, "promo");
	a_text_says_the_same(ONE(", accounts: [acme, \"*\"]"), "acme");
}

static void domains_are_in_the_file_or_beside_it(void **state)
{
	(void)state;
	assert_refused("domains: {file: /x, list: [{name: a, hosts: [a.a]}]}\n",
		       "in domains.file");
	assert_refused("domains: {file: /x, default: a}\n", "in domains.file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_any_there_is_nothing_to_say),
		cmocka_unit_test(a_host_is_found_in_every_form_of_it),
		cmocka_unit_test(a_short_url_is_made_with_the_first_host),
		cmocka_unit_test(a_name_that_is_no_domain_gets_the_default),
		cmocka_unit_test(the_first_is_the_default_unless_said),
		cmocka_unit_test(a_base_url_may_have_a_port_and_a_path),
		cmocka_unit_test(a_domain_allows_the_spaces_it_names),
		cmocka_unit_test(a_domain_tells_whose_it_is),
		cmocka_unit_test(what_contradicts_itself_is_refused),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(domains_may_stand_in_a_file_of_their_own),
		cmocka_unit_test(a_file_with_a_mistake_is_refused_and_named),
		cmocka_unit_test(
			a_file_is_read_again_while_what_was_read_is_in_use),
		cmocka_unit_test(a_reading_that_comes_back_is_kept_once),
		cmocka_unit_test(
			shared_ones_go_before_those_of_the_configuration),
		cmocka_unit_test(a_change_of_accounts_is_a_change),
		cmocka_unit_test(a_text_of_domains_says_the_same),
		cmocka_unit_test(domains_are_in_the_file_or_beside_it),
		cmocka_unit_test(the_name_of_a_domain_has_a_bound),
		cmocka_unit_test(the_port_of_a_base_url_is_one),
		cmocka_unit_test(a_change_of_any_setting_is_taken),
		cmocka_unit_test(a_robots_tag_is_the_value_of_a_header),
		cmocka_unit_test(the_name_of_an_account_has_a_bound),
		cmocka_unit_test(
			a_text_that_contradicts_itself_is_refused_and_named),
	};

	setenv("SHORTLOOP_TEST_KEY", "0123456789abcdef", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
