#include "common/app/cli.h"
#include "common/config/config_print.h"

#include <getopt.h>
#include <limits.h>
#include <string.h>

#define DEFAULT_CONFIG "/etc/shortloop/shortloop.yaml"

/* The codes of getopt_long for options without a short form. */
enum {
	OPT_PRINT_CONFIG = 256,
	OPT_PRINT_SAMPLE,
	OPT_PRINT_MAN,
	OPT_FIRST
};

/* The date of the version in debian/changelog; a test compares them. */
#define RELEASED "November 25, 2026"

static const struct option shared_options[] = {
	{"config", required_argument, NULL, 'c'},
	{"check", no_argument, NULL, 'n'},
	{"print-config", no_argument, NULL, OPT_PRINT_CONFIG},
	{"print-sample", no_argument, NULL, OPT_PRINT_SAMPLE},
	{"print-man", no_argument, NULL, OPT_PRINT_MAN},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
};
#define SHARED_COUNT (sizeof(shared_options) / sizeof(shared_options[0]))

static const struct app_option shared_help[] = {
	{"c, --config", "FILE", "the configuration (" DEFAULT_CONFIG ")", NULL},
	{"n, --check", NULL,
	 "parse it, print 'ok' and exit 0, or the error and exit 78", NULL},
	{"-print-config", NULL, "print the effective settings and exit", NULL},
	{"-print-sample", NULL, "print a commented sample and exit", NULL},
	{"-print-man", NULL, "print the manual page (mdoc) and exit", NULL},
	{"-version", NULL, "print the version and exit", NULL},
	{"-help", NULL, "print this and exit", NULL},
	{0},
};

static const struct {
	const char *status, *meaning;
} exit_help[] = {
	{"0", "done, or drained after SIGTERM"},
	{"1", "done, and what was found or left out is not as it should be"},
	{"64", "the command line is wrong"},
	{"65", "what was read makes no sense"},
	{"66", "there is no such thing"},
	{"69", "a server refused"},
	{"70", "refused, because going on could do harm"},
	{"71", "the system refused: memory, a port in use, a full disk"},
	{"75", "another process is at work, or a server is away: try again"},
	{"78", "the configuration is wrong"},
};

/* Returns true if the value may be left out. */
static bool is_optional(const struct app_option *o)
{
	return o->argument && o->argument[0] == '[';
}

static int argument_kind(const struct app_option *o)
{
	if (!o->argument)
		return no_argument;
	return is_optional(o) ? optional_argument : required_argument;
}

/* Returns " N", "[=DURATION]" or nothing, to follow an option. */
static const char *argument_text(const struct app_option *o, char text[32])
{
	if (!o->argument)
		return "";
	if (is_optional(o))
		snprintf(text, 32, "[=%s", o->argument + 1);
	else
		snprintf(text, 32, " %s", o->argument);
	return text;
}

static void fill_options(const struct app_spec *spec, struct option *all)
{
	size_t n = 0;

	for (; n < SHARED_COUNT; n++)
		all[n] = shared_options[n];
	for (size_t i = 0; spec->options && spec->options[i].name; i++, n++)
		all[n] = (struct option){spec->options[i].name,
					 argument_kind(&spec->options[i]), NULL,
					 OPT_FIRST + (int)i};
	all[n] = (struct option){0};
}

static void apply_option(struct cli *cli, int c)
{
	switch (c) {
	case 'c':
		cli->config_path = optarg;
		break;
	case 'n':
		cli->action = CLI_CHECK;
		break;
	case 'h':
		cli->action = CLI_HELP;
		break;
	case 'V':
		cli->action = CLI_VERSION;
		break;
	case OPT_PRINT_CONFIG:
		cli->action = CLI_PRINT_CONFIG;
		break;
	case OPT_PRINT_SAMPLE:
		cli->action = CLI_PRINT_SAMPLE;
		break;
	case OPT_PRINT_MAN:
		cli->action = CLI_PRINT_MAN;
		break;
	default:
		cli->values[c - OPT_FIRST] = optarg ? optarg : "";
	}
}

static const struct app_command *find_command(const struct app_spec *spec,
					      const char *name)
{
	for (const struct app_command *it = spec->commands; it->name; it++)
		if (!strcmp(it->name, name))
			return it;
	return NULL;
}

static int take_command(struct cli *cli, const struct app_spec *spec, int argc,
			char **argv, struct error *err)
{
	const struct app_command *command;
	const char *given = optind < argc ? argv[optind] : NULL;

	if (given && !spec->commands)
		return error_set(err, ERROR_USAGE, "unexpected argument '%s'",
				 given);
	if (!spec->commands)
		return 0;
	if (!given && !spec->default_command && cli->action == CLI_RUN)
		return error_set(err, ERROR_USAGE,
				 "a command is needed; see %s --help",
				 spec->name);
	cli->command = spec->default_command;
	if (!given)
		return 0;
	command = find_command(spec, given);
	if (!command)
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a command of %s; see %s --help",
				 given, spec->name, spec->name);
	cli->command = command->name;
	cli->operands = argv + optind + 1;
	cli->operand_count = (size_t)(argc - optind - 1);
	if (cli->operand_count && !command->operands)
		return error_set(err, ERROR_USAGE, "unexpected argument '%s'",
				 cli->operands[0]);
	return 0;
}

/* Returns true if the option accepts `command`. */
static bool goes_with(const struct app_option *o, const char *command)
{
	size_t len;

	if (!o->commands)
		return true;
	for (const char *at = o->commands; *at; at += len) {
		at += strspn(at, " ");
		len = strcspn(at, " ");
		if (len == strlen(command) && !strncmp(at, command, len))
			return true;
	}
	return false;
}

static int check_options(const struct cli *cli, const struct app_spec *spec,
			 struct error *err)
{
	for (size_t i = 0; spec->options && spec->options[i].name; i++) {
		const struct app_option *o = &spec->options[i];

		if (!cli->values[i] || !cli->command ||
		    goes_with(o, cli->command))
			continue;
		return error_set(err, ERROR_USAGE,
				 "--%s does not go with '%s', but with: %s",
				 o->name, cli->command, o->commands);
	}
	return 0;
}

/* A short option may be in the middle of a word that getopt is still
 * parsing. */
static int refuse_option(const struct app_spec *spec, char **argv,
			 struct error *err)
{
	const char letter[] = {'-', (char)optopt, '\0'};
	bool is_short = optopt > 0 && optopt <= UCHAR_MAX;

	return error_set(err, ERROR_USAGE, "unknown option %s; see %s --help",
			 is_short ? letter : argv[optind - 1], spec->name);
}

int cli_parse(struct cli *cli, const struct app_spec *spec, int argc,
	      char **argv, struct error *err)
{
	struct option all[SHARED_COUNT + CLI_OPTIONS_MAX + 1];
	int c;

	*cli = (struct cli){.config_path = DEFAULT_CONFIG};
	fill_options(spec, all);
	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:nhV", all, NULL)) != -1) {
		if (c == ':')
			return error_set(err, ERROR_USAGE,
					 "%s needs a value; see %s --help",
					 argv[optind - 1], spec->name);
		if (c == '?')
			return refuse_option(spec, argv, err);
		apply_option(cli, c);
	}
	if (take_command(cli, spec, argc, argv, err) < 0)
		return -1;
	return check_options(cli, spec, err);
}

static void help_line(const struct app_option *o, const char *dash,
		      bool say_commands, FILE *out)
{
	char left[64], argument[32];

	snprintf(left, sizeof(left), "%s%s%s", dash, o->name,
		 argument_text(o, argument));
	if (say_commands && o->commands)
		fprintf(out, "  %-22s %s: %s\n", left, o->commands, o->help);
	else
		fprintf(out, "  %-22s %s\n", left, o->help);
}

static void help_commands(const struct app_spec *spec, const char *only,
			  FILE *out)
{
	char left[64];

	fputs("\ncommands:\n", out);
	for (const struct app_command *it = spec->commands; it->name; it++) {
		if (only && strcmp(it->name, only) != 0)
			continue;
		snprintf(left, sizeof(left), "%s%s%s", it->name,
			 it->operands ? " " : "",
			 it->operands ? it->operands : "");
		fprintf(out, "  %-22s %s%s\n", left, it->help,
			spec->default_command &&
					!strcmp(it->name, spec->default_command)
				? " (when none is given)"
				: "");
	}
}

static void help_usage(const struct app_spec *spec, const char *only, FILE *out)
{
	const char *operands;

	if (only) {
		operands = find_command(spec, only)->operands;
		fprintf(out, "usage: %s %s [options]%s%s\n", spec->name, only,
			operands ? " " : "", operands ? operands : "");
		return;
	}
	fprintf(out, "usage: %s [options]%s\n", spec->name,
		!spec->commands		? ""
		: spec->default_command ? " [command]"
					: " command");
}

void cli_print_help(const struct app_spec *spec,
		    const struct config_spec *config, const char *only,
		    FILE *out)
{
	if (only && spec->default_command &&
	    !strcmp(only, spec->default_command))
		only = NULL;
	fprintf(out, "%s - %s\n\n", spec->name, spec->summary);
	help_usage(spec, only, out);
	if (spec->commands)
		help_commands(spec, only, out);
	fputs("\noptions:\n", out);
	for (const struct app_option *o = spec->options; o && o->name; o++)
		if (!only || goes_with(o, only))
			help_line(o, "--", !only, out);
	for (const struct app_option *o = shared_help; o->name; o++)
		help_line(o, "-", false, out);
	fputs("\nsignals: SIGTERM drains and exits 0; SIGHUP ", out);
	config_print_reloads(config, out);
	fputs("\n\nexit status:\n", out);
	for (size_t i = 0; i < sizeof(exit_help) / sizeof(exit_help[0]); i++)
		fprintf(out, "  %-3s %s\n", exit_help[i].status,
			exit_help[i].meaning);
}

static void man_option(const struct app_option *o, FILE *out)
{
	fprintf(out, ".It Fl -%s", o->name);
	if (is_optional(o))
		fprintf(out, " Ns Oo Ns = Ns Ar %.*s Oc",
			(int)strlen(o->argument) - 2, o->argument + 1);
	else if (o->argument)
		fprintf(out, " Ar %s", o->argument);
	fprintf(out, "\n%s%s%s.\n", o->help, o->commands ? "; with " : "",
		o->commands ? o->commands : "");
}

/* Marks up both forms of "c, --config". */
static void man_shared_option(const struct app_option *o, FILE *out)
{
	const char *second = strstr(o->name, ", --");

	if (second)
		fprintf(out, ".It Fl %.*s , Fl -%s", (int)(second - o->name),
			o->name, second + strlen(", --"));
	else
		fprintf(out, ".It Fl %s", o->name);
	if (o->argument)
		fprintf(out, " Ar %s", o->argument);
	fprintf(out, "\n%s.\n", o->help);
}

static void man_options(const struct app_spec *spec, FILE *out)
{
	fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", out);
	for (const struct app_option *o = spec->options; o && o->name; o++)
		man_option(o, out);
	for (const struct app_option *o = shared_help; o->name; o++)
		man_shared_option(o, out);
	fputs(".El\n", out);
}

void cli_print_man(const struct app_spec *spec,
		   const struct config_spec *config, FILE *out)
{
	fprintf(out,
		".Dd " RELEASED "\n.Dt %s 8\n.Os shortloop %s\n.Sh NAME\n"
		".Nm %s\n.Nd %s\n.Sh SYNOPSIS\n.Nm\n.Op Fl n\n"
		".Op Fl c Ar file\n%s",
		spec->name, VERSION, spec->name, spec->summary,
		spec->commands ? ".Op Ar command\n" : "");
	if (spec->commands)
		fputs(".Sh COMMANDS\n.Bl -tag -width Ds\n", out);
	for (const struct app_command *it = spec->commands; it && it->name;
	     it++)
		fprintf(out, ".It Cm %s%s%s\n%s.\n", it->name,
			it->operands ? " Ar " : "",
			it->operands ? it->operands : "", it->help);
	if (spec->commands)
		fputs(".El\n", out);
	man_options(spec, out);
	fputs(".Sh CONFIGURATION\n", out);
	config_print_man(config, out);
	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < sizeof(exit_help) / sizeof(exit_help[0]); i++)
		fprintf(out, ".It %s\n%s.\n", exit_help[i].status,
			exit_help[i].meaning);
	fputs(".El\n", out);
}
