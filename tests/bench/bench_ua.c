/*
 * Parses the user agents of a file, one a line, again and again without a
 * cache, and prints nanoseconds per string.
 * usage: bench_ua REGEXES STRINGS SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/ua/ua.h"
#include "common/clock.h"

#define LINES_MAX 100000

struct lines {
	char *items[LINES_MAX];
	size_t count;
};

static struct lines *read_lines(const char *path)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (!in || !lines)
		return NULL;
	while (lines->count < LINES_MAX &&
	       (len = getline(&line, &room, in)) > 0) {
		line[len - 1] = '\0';
		lines->items[lines->count++] = strdup(line);
	}
	free(line);
	fclose(in);
	return lines;
}

static int measure_parsing(const char *regexes, const struct lines *lines,
			   double seconds, struct error *err)
{
	struct ua_rules *rules = ua_rules_load(regexes, true, err);
	struct ua_parser *parser = rules ? ua_parser_new(rules, err) : NULL;
	struct ua_result result = {0};
	uint64_t parsed = 0, known = 0;
	int64_t start, now, end;

	if (!parser)
		return -1;
	start = now = clock_monotonic_ns();
	end = start + (int64_t)(seconds * 1e9);
	for (; now < end; now = clock_monotonic_ns()) {
		for (size_t i = 0; i < lines->count; i++) {
			const char *text = lines->items[i];

			if (ua_parse(parser, text, strlen(text), &result, err))
				return -1;
			known += !ua_is(&result, UA_FAMILY, "Other");
		}
		parsed += lines->count;
	}
	printf("%.1f ns, known %.4f\n", (double)(now - start) / (double)parsed,
	       (double)known / (double)parsed);
	ua_result_free(&result);
	ua_parser_free(parser);
	ua_rules_free(rules);
	return 0;
}

int main(int argc, char **argv)
{
	struct lines *lines = argc == 4 ? read_lines(argv[2]) : NULL;
	struct error err = {0};

	if (!lines || lines->count == 0) {
		fprintf(stderr, "usage: bench_ua REGEXES STRINGS SECONDS\n");
		return 64;
	}
	if (measure_parsing(argv[1], lines, atof(argv[3]), &err) < 0) {
		fprintf(stderr, "bench_ua: %s\n", err.text);
		return 1;
	}
	return 0;
}
