#include "tests/unit/unit.h"

#include <string.h>

#include "linkstore/domains_swap.h"

static const char both[] =
	"domains: {list: ["
	"{name: main, hosts: [sho.rt, www.sho.rt], "
	"base_url: \"https://SHO.rt:8443/s\"}, "
	"{name: promo, hosts: [promo.example], spaces: []}]}\n";

struct world {
	struct domains_config config;
	struct error err;
	bool changed;
};

static struct world make_world(void)
{
	struct links_config links = {.grant_blocks = 1};
	struct world w = {.changed = false};

	if (domains_config_parse("x", both, &links, &w.config, &w.err) < 0)
		fail_msg("%s", w.err.text);
	return w;
}

static void release_world(struct world *w)
{
	domains_config_release(&w->config);
}

static int swap_host(struct world *w, const char *old, const char *fresh)
{
	return domains_swap_host(&w->config, old, fresh, &w->changed, &w->err);
}

static const struct domain_config *get_domain(const struct world *w, size_t i)
{
	const struct domain_config *all = w->config.list.items;

	return &all[i];
}

/* "sho.rt www.sho.rt " */
static const char *join_hosts(const struct world *w, size_t i)
{
	static char text[256];
	const struct setting_strings *h = &get_domain(w, i)->hosts;

	text[0] = '\0';
	for (size_t j = 0; j < h->count; j++) {
		strcat(text, h->items[j]);
		strcat(text, " ");
	}
	return text;
}

static void the_new_host_is_in_front_and_the_old_stays(void **state)
{
	struct world w = make_world();

	(void)state;
	assert_int_equal(swap_host(&w, "promo.example", "Fresh.Example"), 0);
	assert_true(w.changed);
	assert_string_equal(join_hosts(&w, 1), "fresh.example promo.example ");
	assert_string_equal(join_hosts(&w, 0), "sho.rt www.sho.rt ");
	assert_null(get_domain(&w, 1)->base_url);
	release_world(&w);
}

static void a_base_url_gets_the_new_host(void **state)
{
	struct world w = make_world();

	(void)state;
	assert_int_equal(swap_host(&w, "www.sho.rt", "x.rt"), 0);
	assert_string_equal(get_domain(&w, 0)->base_url,
			    "https://SHO.rt:8443/s");
	assert_int_equal(swap_host(&w, "sho.rt.",
				   "b\xc3\xbc"
				   "cher.example"),
			 0);
	assert_string_equal(get_domain(&w, 0)->base_url,
			    "https://xn--bcher-kva.example:8443/s");
	assert_string_equal(join_hosts(&w, 0),
			    "xn--bcher-kva.example sho.rt x.rt "
			    "www.sho.rt ");
	release_world(&w);
}

static void a_host_of_the_same_domain_moves_to_the_front(void **state)
{
	struct world w = make_world();

	(void)state;
	assert_int_equal(swap_host(&w, "sho.rt", "www.sho.rt"), 0);
	assert_string_equal(join_hosts(&w, 0), "www.sho.rt sho.rt ");
	release_world(&w);
}

static void the_same_once_more_changes_nothing(void **state)
{
	struct world w = make_world();

	(void)state;
	assert_int_equal(swap_host(&w, "sho.rt", "x.rt"), 0);
	assert_int_equal(swap_host(&w, "sho.rt", "x.rt"), 0);
	assert_false(w.changed);
	assert_string_equal(join_hosts(&w, 0), "x.rt sho.rt www.sho.rt ");
	release_world(&w);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const struct {
		const char *old, *fresh, *says;
	} cases[] = {
		{"gone.example", "x.rt", "gone.example is no domain's"},
		{"sho.rt", "promo.example", "is the domain promo's"},
		{"sho.rt", "SHO.RT", "cannot replace itself"},
		{"sho.rt", "x.rt:80", "the host"},
		{"sho.rt", "", "host"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w = make_world();

		assert_int_equal(swap_host(&w, cases[i].old, cases[i].fresh),
				 -1);
		assert_int_equal(w.err.code, ERROR_INPUT);
		if (!strstr(w.err.text, cases[i].says))
			fail_msg("%s", w.err.text);
		assert_string_equal(join_hosts(&w, 0), "sho.rt www.sho.rt ");
		release_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_new_host_is_in_front_and_the_old_stays),
		cmocka_unit_test(a_base_url_gets_the_new_host),
		cmocka_unit_test(a_host_of_the_same_domain_moves_to_the_front),
		cmocka_unit_test(the_same_once_more_changes_nothing),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
