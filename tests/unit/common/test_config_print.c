/* A sample, a print and a manual page must match to the letter. */
#include "tests/unit/unit.h"

#include <string.h>

#include "common/clock.h"
#include "common/config/config.h"
#include "common/config/config_print.h"

struct part {
	int64_t weight;
};

struct server {
	char *name;
	struct setting_list parts;
};

struct sample {
	char *address, *place, *needed;
	int64_t count;
	struct setting_strings brokers;
	struct setting_list servers, absent, empty;
};

#define SETTING_STRUCT struct part
static const struct setting part_settings[] = {
	SETTING_INT(weight, "1", 0, 9, AT_START, "Its share"),
	{0},
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct server
static const struct setting server_settings[] = {
	SETTING_STRING(name, REQUIRED, AT_START, "What it is called."),
	SETTING_LIST(parts, "[]", struct part, part_settings, AT_START,
		     "What it is made of."),
	{0},
};

#undef SETTING_STRUCT
#define SETTING_STRUCT struct sample
static const struct setting settings[] = {
	SETTING_STRING(address, "a b", AT_START,
		       "Where to listen, which takes so many words that they "
		       "do not fit into a line of a sample, nor of two."),
	SETTING_PATH(place, OPTIONAL_LIKE("/etc/x"), RELOADS, "Which file"),
	SETTING_STRING(needed, REQUIRED, AT_START, "What is needed."),
	SETTING_INT(count, "4", 1, 64, AT_START, "How many."),
	SETTING_STRINGS(brokers, "a:1, ::1", AT_START, "Where they are."),
	SETTING_LIST(servers, REQUIRED_LIKE("    - name: one"), struct server,
		     server_settings, AT_START, "Who takes part."),
	SETTING_LIST(absent, OPTIONAL_LIKE("    - name: one\n      parts: []"),
		     struct server, server_settings, AT_START, "Who may."),
	SETTING_LIST(empty, "[]", struct part, part_settings, AT_START,
		     "Who else."),
	{0},
};
static const struct setting_section section = {
	.name = "part",
	.help = "A part.",
	.settings = settings,
};
static const struct setting few[] = {
	SETTING_INT(count, "4", 1, 64, AT_START, "How many."),
	{0},
};
static const struct setting_section lent = {
	.name = "lent",
	.help = "Another's.",
	.settings = few,
};
static const struct setting_group groups[] = {
	{.section = &lent, .borrowed = true},
	{.section = &section},
};
static const struct config_spec spec = {groups, 2, NULL};

static void assert_prints(void (*print)(const struct sample *config, FILE *out),
			  const struct sample *config, const char *want)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	print(config, out);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void print_sample(const struct sample *config, FILE *out)
{
	(void)config;
	config_print_sample(&spec, out);
}

static void print_man(const struct sample *config, FILE *out)
{
	(void)config;
	config_print_man(&spec, out);
}

static void print_config(const struct sample *config, FILE *out)
{
	config_print(&spec, config, out);
}

static const char sample_text[] =
	"# A part.\n"
	"part:\n"
	"  # Where to listen, which takes so many words that they do not fit "
	"into a\n"
	"  # line of a sample, nor of two.\n"
	"  # text; default a b\n"
	"  address: \"a b\"\n"
	"\n"
	"  # Which file.  The file is read again on SIGHUP.\n"
	"  # path\n"
	"  # place: /etc/x\n"
	"\n"
	"  # What is needed.\n"
	"  # text; required\n"
	"  needed:\n"
	"\n"
	"  # How many.\n"
	"  # whole number, at least 1, at most 64; default 4\n"
	"  count: 4\n"
	"\n"
	"  # Where they are.\n"
	"  # list of texts; default a:1, ::1\n"
	"  brokers: [a:1, \"::1\"]\n"
	"\n"
	"  # Who takes part.\n"
	"  # list of mappings; required\n"
	"  # - name: What it is called. (text; required)\n"
	"  # - parts: What it is made of. (list of mappings; default [])\n"
	"  # - - weight: Its share (whole number, at most 9; default 1)\n"
	"  servers:\n"
	"    - name: one\n"
	"\n"
	"  # Who may.\n"
	"  # list of mappings\n"
	"  # - name: What it is called. (text; required)\n"
	"  # - parts: What it is made of. (list of mappings; default [])\n"
	"  # - - weight: Its share (whole number, at most 9; default 1)\n"
	"  # absent:\n"
	"  #   - name: one\n"
	"  #     parts: []\n"
	"\n"
	"  # Who else.\n"
	"  # list of mappings; default []\n"
	"  # - weight: Its share (whole number, at most 9; default 1)\n"
	"  empty: []\n"
	"\n";

static const char man_text[] =
	"Settings are read at start: a change takes a restart.\n"
	"SIGHUP reads again: part.place.\n"
	".Ss Section part\n"
	"A part.\n"
	".Bl -tag -width Ds\n"
	".It Ic address\n"
	"Where to listen, which takes so many words that they do not fit into "
	"a line of a sample, nor of two.\n"
	".Pq text; default a b\n"
	".It Ic place\n"
	"Which file.  The file is read again on SIGHUP.\n"
	".Pq path\n"
	".It Ic needed\n"
	"What is needed.\n"
	".Pq text; required\n"
	".It Ic count\n"
	"How many.\n"
	".Pq whole number, at least 1, at most 64; default 4\n"
	".It Ic brokers\n"
	"Where they are.\n"
	".Pq list of texts; default a:1, ::1\n"
	".It Ic servers\n"
	"Who takes part.\n"
	".Pq list of mappings; required\n"
	"Each item:\n"
	".Bl -tag -width Ds\n"
	".It Ic name\n"
	"What it is called.\n"
	".Pq text; required\n"
	".It Ic parts\n"
	"What it is made of.\n"
	".Pq list of mappings; default []\n"
	"Each item:\n"
	".Bl -tag -width Ds\n"
	".It Ic weight\n"
	"Its share\n"
	".Pq whole number, at most 9; default 1\n"
	".El\n"
	".El\n"
	".It Ic absent\n"
	"Who may.\n"
	".Pq list of mappings\n"
	"Each item:\n"
	".Bl -tag -width Ds\n"
	".It Ic name\n"
	"What it is called.\n"
	".Pq text; required\n"
	".It Ic parts\n"
	"What it is made of.\n"
	".Pq list of mappings; default []\n"
	"Each item:\n"
	".Bl -tag -width Ds\n"
	".It Ic weight\n"
	"Its share\n"
	".Pq whole number, at most 9; default 1\n"
	".El\n"
	".El\n"
	".It Ic empty\n"
	"Who else.\n"
	".Pq list of mappings; default []\n"
	"Each item:\n"
	".Bl -tag -width Ds\n"
	".It Ic weight\n"
	"Its share\n"
	".Pq whole number, at most 9; default 1\n"
	".El\n"
	".El\n";

static const char print_text[] = "lent:\n"
				 "  count: 4\n"
				 "part:\n"
				 "  address: \"a b\"\n"
				 "  place: null\n"
				 "  needed: x\n"
				 "  count: 4\n"
				 "  brokers: [a:1, \"::1\"]\n"
				 "  servers:\n"
				 "    - name: a\n"
				 "      parts:\n"
				 "        - weight: 1\n"
				 "        - weight: 3\n"
				 "    - name: b\n"
				 "      parts: []\n"
				 "  absent: []\n"
				 "  empty: []\n";

static void a_sample_shows_each_setting_and_what_it_may_be(void **state)
{
	(void)state;
	assert_prints(print_sample, NULL, sample_text);
}

static void a_manual_page_has_the_same(void **state)
{
	(void)state;
	assert_prints(print_man, NULL, man_text);
}

static void a_print_has_lists_within_lists(void **state)
{
	struct sample config = {0};
	struct error err = {0};

	(void)state;
	if (config_load_text(&spec, "it",
			     "part:\n"
			     "  needed: x\n"
			     "  servers:\n"
			     "    - {name: a, parts: [{}, {weight: 3}]}\n"
			     "    - {name: b}\n",
			     &config, &err) < 0)
		fail_msg("%s", err.text);
	assert_prints(print_config, &config, print_text);
	config_release(&spec, &config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_sample_shows_each_setting_and_what_it_may_be),
		cmocka_unit_test(a_manual_page_has_the_same),
		cmocka_unit_test(a_print_has_lists_within_lists),
	};

	return cmocka_run_group_tests_name("config_print", tests, NULL, NULL);
}
