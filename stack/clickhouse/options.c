#include "stack/clickhouse/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum type {
	TEXT,
	COUNT,
	BYTES
};

struct option {
	const char *name;
	const char *argument;
	const char *fallback; /* NULL: none */
	const char *help;
	enum type type;
	size_t offset;
	int64_t min, max; /* for COUNT and BYTES */
};

#define AT(member) offsetof(struct options, member)
static const struct option table[] = {
	{"listen", "HOST:PORT", "127.0.0.1:8123", "where HTTP is served", TEXT,
	 AT(listen), 0, 0},
	{"path", "DIR", "clickhouse-data", "the data; made when missing", TEXT,
	 AT(path), 0, 0},
	{"library", "FILE", "libchdb.so", "the engine", TEXT, AT(library), 0,
	 0},
	{"user", "NAME", "default", "the one user there is", TEXT, AT(user), 0,
	 0},
	{"password-file", "FILE", NULL, "its password; none without", TEXT,
	 AT(password_file), 0, 0},
	{"compile", "yes|no", "yes", "questions to machine code", TEXT,
	 AT(compile), 0, 0},
	{"threads", "N", "32", "queries run at once", COUNT, AT(threads), 1,
	 256},
	{"queue", "N", "64", "queries that may wait; more are refused", COUNT,
	 AT(queue), 1, 100000},
	{"max-body", "BYTES", "256M", "of a request, as sent and decompressed",
	 BYTES, AT(max_body), 1024, INT64_C(1) << 40},
	{"max-result", "BYTES", "1G", "of an answer; 0: any", BYTES,
	 AT(max_result), 0, INT64_C(1) << 40},
	{"max-sessions", "N", "1000", "sessions kept by session_id", COUNT,
	 AT(max_sessions), 1, 1000000},
	{"max-connections", "N", "1000", "clients connected at once", COUNT,
	 AT(max_connections), 1, 1000000},
	{"log-format", "FORMAT", "logfmt", "logfmt or json", TEXT,
	 AT(log_format), 0, 0},
};
#define OPTION_COUNT (sizeof(table) / sizeof(table[0]))

/* Parses "64", "16K", "256M", "1G": factors of 1024. */
static int parse_number(const struct option *opt, const char *text,
			int64_t *ret, struct error *err)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	unit = *end && end[1] == '\0' && opt->type == BYTES
		       ? strchr(units, *end)
		       : NULL;
	if (unit && n >= 0 && n <= INT64_MAX >> 30) {
		n <<= 10 * (unit - units + 1);
		end++;
	}
	if (end == text || *end || errno || n < opt->min || n > opt->max)
		return error_set(err, ERROR_USAGE,
				 "--%s: %lld to %lld%s, not '%s'", opt->name,
				 (long long)opt->min, (long long)opt->max,
				 opt->type == BYTES ? " (K, M, G)" : "", text);
	*ret = n;
	return 0;
}

static int assign_option(struct options *o, const struct option *opt,
			 const char *text, struct error *err)
{
	void *field = (char *)o + opt->offset;

	if (opt->type != TEXT)
		return parse_number(opt, text, field, err);
	if (!text[0])
		return error_set(err, ERROR_USAGE, "--%s: is empty", opt->name);
	*(const char **)field = text;
	return 0;
}

static const struct option *find_option(const char *name, size_t len)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (strlen(table[i].name) == len &&
		    memcmp(table[i].name, name, len) == 0)
			return &table[i];
	return NULL;
}

/* Takes "--name value" or "--name=value" at argv[*i]. */
static int take_option(struct options *o, int argc, char **argv, int *i,
		       struct error *err)
{
	const char *arg = argv[*i], *value;
	const struct option *opt = NULL;
	size_t len;

	if (strncmp(arg, "--", 2) == 0) {
		len = strcspn(arg + 2, "=");
		opt = find_option(arg + 2, len);
	}
	if (!opt)
		return error_set(err, ERROR_USAGE,
				 "'%s' is no option; see --help", arg);
	value = arg[2 + len] == '=' ? arg + 3 + len : NULL;
	if (!value && *i + 1 < argc)
		value = argv[++*i];
	if (!value)
		return error_set(err, ERROR_USAGE, "--%s: %s is missing",
				 opt->name, opt->argument);
	return assign_option(o, opt, value, err);
}

int options_parse(struct options *o, int argc, char **argv,
		  enum options_action *ret_action, struct error *err)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (table[i].fallback &&
		    assign_option(o, &table[i], table[i].fallback, err) < 0)
			return -1;
	*ret_action = OPTIONS_RUN;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0)
			*ret_action = OPTIONS_HELP;
		else if (strcmp(argv[i], "--version") == 0)
			*ret_action = OPTIONS_VERSION;
		else if (take_option(o, argc, argv, &i, err) < 0)
			return -1;
	}
	if (strcmp(o->log_format, "logfmt") != 0 &&
	    strcmp(o->log_format, "json") != 0)
		return error_set(err, ERROR_USAGE,
				 "--log-format: logfmt or json, not '%s'",
				 o->log_format);
	if (strcmp(o->compile, "yes") != 0 && strcmp(o->compile, "no") != 0)
		return error_set(err, ERROR_USAGE,
				 "--compile: yes or no, not '%s'", o->compile);
	return 0;
}

void options_print_help(FILE *out)
{
	fputs("usage: clickhouse-embedded [--OPTION VALUE]...\n"
	      "ClickHouse's HTTP interface in front of an embedded engine, for "
	      "development.\n\n",
	      out);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *opt = &table[i];

		fprintf(out, "  --%s %s%*s%s", opt->name, opt->argument,
			(int)(24 - strlen(opt->name) - strlen(opt->argument)),
			"", opt->help);
		if (opt->fallback)
			fprintf(out, " (%s)", opt->fallback);
		fputc('\n', out);
	}
	fputs("  --version, --help\n", out);
}
