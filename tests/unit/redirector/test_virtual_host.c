#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/visit/virtual_host.h"

static char ten_days[] = "10d", *classes[] = {ten_days};
static char secret[] = "0123456789abcdef", s7[] = "s7", s8[] = "s8",
	    sequence[] = "sequence";
static struct links_key_config key = {.version = 0, .key = secret};
static struct links_space_config spaces[] = {
	{.name = s7,
	 .number = 1,
	 .length = 7,
	 .strategy = sequence,
	 .block_size = 1000,
	 .keys = {&key, 1}},
	{.name = s8,
	 .number = 2,
	 .length = 8,
	 .strategy = sequence,
	 .block_size = 1000,
	 .keys = {&key, 1}},
};
static const struct links_config links = {
	.ttl_classes = {classes, 1},
	.grant_blocks = 1,
	.spaces = {spaces, 2},
};

static char main_name[] = "main", promo_name[] = "promo", https[] = "https",
	    main_host[] = "sho.rt", promo_host[] = "promo.example",
	    promo_old[] = "old.example",
	    promo_url[] = "https://promo.example.org/",
	    *main_hosts[] = {main_host},
	    *promo_hosts[] = {promo_host, promo_old}, *promo_spaces[] = {s8};
static struct domain_config two[] = {
	{.name = main_name, .hosts = {main_hosts, 1}, .scheme = https},
	{.name = promo_name,
	 .hosts = {promo_hosts, 2},
	 .scheme = https,
	 .fallback_url = promo_url,
	 .spaces = {promo_spaces, 1}},
};
static char serve_default[] = "default", refuse[] = "refuse",
	    general_url[] = "https://www.example.org/";

struct world {
	struct linkstore *store;
	struct domains *domains;
	struct virtual_hosts *virtual_hosts;
};

static struct world make_world(size_t domain_count, char *unknown_hosts)
{
	const struct domains_config config = {.list = {two, domain_count}};
	const struct redirector_settings settings = {
		.fallback_url = general_url, .unknown_hosts = unknown_hosts};
	struct error err = {0};
	struct world w;

	w.store = linkstore_new(&links, &err);
	assert_non_null(w.store);
	w.domains = domains_open(&config, NULL, NULL, &err);
	assert_non_null(w.domains);
	w.virtual_hosts =
		virtual_hosts_new(w.domains, w.store, &settings, &err);
	assert_non_null(w.virtual_hosts);
	return w;
}

static void drop_world(struct world *w)
{
	virtual_hosts_free(w->virtual_hosts);
	domains_free(w->domains);
	linkstore_free(w->store);
}

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static bool link_is_shown(const struct world *w, const char *host,
			  const char *link_domain, uint8_t space)
{
	const struct cached_link link = {.domain = link_domain, .space = space};

	return virtual_host_shows(
		virtual_hosts_find(w->virtual_hosts, slice_of(host)),
		slice_of(host), &link);
}

static void without_domains_every_host_shows_what_it_is_named(void **state)
{
	struct world w = make_world(0, serve_default);

	(void)state;
	assert_true(link_is_shown(&w, "any.example", "", 0));
	assert_true(link_is_shown(&w, "", "", 1));
	assert_true(link_is_shown(&w, "Sho.rt:8080", "sho.rt", 0));
	assert_false(link_is_shown(&w, "other.example", "sho.rt", 0));
	assert_string_equal(virtual_hosts_find(w.virtual_hosts, slice_of("x"))
				    ->fallback_url,
			    general_url);
	drop_world(&w);
}

static void a_link_is_shown_under_every_host_of_its_domain(void **state)
{
	struct world w = make_world(2, serve_default);

	(void)state;
	assert_true(link_is_shown(&w, "promo.example", "promo", 1));
	assert_true(link_is_shown(&w, "OLD.example:80", "promo", 1));
	assert_false(link_is_shown(&w, "sho.rt", "promo", 1));
	assert_true(link_is_shown(&w, "sho.rt", "main", 1));
	drop_world(&w);
}

/* The link must not appear under a domain that was added after it. */
static void a_link_of_no_domain_is_the_default_ones(void **state)
{
	struct world w = make_world(2, serve_default);

	(void)state;
	assert_true(link_is_shown(&w, "sho.rt", "", 1));
	assert_true(link_is_shown(&w, "other.example", "", 1));
	assert_false(link_is_shown(&w, "promo.example", "", 1));
	assert_false(link_is_shown(&w, "old.example", "", 1));
	drop_world(&w);
}

static void a_name_that_is_no_host_does_not_show(void **state)
{
	struct world w = make_world(2, serve_default);

	(void)state;
	assert_false(link_is_shown(&w, "sho.rt", "sho.rt", 1));
	assert_false(link_is_shown(&w, "sho.rt", "gone", 1));
	drop_world(&w);
}

static void a_domain_shows_the_spaces_it_allows(void **state)
{
	struct world w = make_world(2, serve_default);

	(void)state;
	assert_false(link_is_shown(&w, "promo.example", "promo", 0));
	assert_true(link_is_shown(&w, "promo.example", "promo", 1));
	assert_true(link_is_shown(&w, "sho.rt", "", 0));
	drop_world(&w);
}

static void an_unknown_host_is_the_default_domains(void **state)
{
	struct world w = make_world(2, serve_default);

	(void)state;
	assert_true(link_is_shown(&w, "other.example", "main", 0));
	assert_true(link_is_shown(&w, "", "main", 0));
	assert_false(link_is_shown(&w, "other.example", "promo", 1));
	assert_false(virtual_hosts_refuse_some(w.virtual_hosts));
	assert_false(virtual_hosts_refuse(w.virtual_hosts,
					  slice_of("other.example")));
	drop_world(&w);
}

static void an_unknown_host_can_be_refused(void **state)
{
	struct world w = make_world(2, refuse);

	(void)state;
	assert_true(virtual_hosts_refuse_some(w.virtual_hosts));
	assert_true(virtual_hosts_refuse(w.virtual_hosts,
					 slice_of("other.example")));
	assert_true(virtual_hosts_refuse(w.virtual_hosts, slice_of("")));
	assert_false(
		virtual_hosts_refuse(w.virtual_hosts, slice_of("SHO.rt:443")));
	drop_world(&w);
}

static void without_domains_no_host_is_refused(void **state)
{
	struct world w = make_world(0, refuse);

	(void)state;
	assert_false(virtual_hosts_refuse_some(w.virtual_hosts));
	drop_world(&w);
}

static void a_domain_may_have_a_fallback_of_its_own(void **state)
{
	struct world w = make_world(2, serve_default);

	(void)state;
	assert_string_equal(
		virtual_hosts_find(w.virtual_hosts, slice_of("promo.example"))
			->fallback_url,
		promo_url);
	assert_string_equal(
		virtual_hosts_find(w.virtual_hosts, slice_of("sho.rt"))
			->fallback_url,
		general_url);
	drop_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			without_domains_every_host_shows_what_it_is_named),
		cmocka_unit_test(
			a_link_is_shown_under_every_host_of_its_domain),
		cmocka_unit_test(a_name_that_is_no_host_does_not_show),
		cmocka_unit_test(a_link_of_no_domain_is_the_default_ones),
		cmocka_unit_test(a_domain_shows_the_spaces_it_allows),
		cmocka_unit_test(an_unknown_host_is_the_default_domains),
		cmocka_unit_test(an_unknown_host_can_be_refused),
		cmocka_unit_test(without_domains_no_host_is_refused),
		cmocka_unit_test(a_domain_may_have_a_fallback_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
