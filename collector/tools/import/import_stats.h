/*
 * import_stats.h - how an import goes: what was counted, what could not be
 * read, how far it has got.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_IMPORT_STATS_H
#define COLLECTOR_TOOLS_IMPORT_IMPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "collector/tools/access_log/access_visit.h"
#include "common/bar.h"
#include "common/error.h"
#include "common/log.h"

enum {
	IMPORT_STATS_REASONS_MAX = 5, /* lines that are named at the end */
	IMPORT_STATS_EXAMPLE_MAX = 80,
};

struct import_stats {
	const char *file;
	bool dry_run;
	uint64_t lines;	     /* read, those before included */
	uint64_t before;     /* of these, imported by a run before */
	uint64_t clicks;     /* rows; those found stored included */
	uint64_t stored;     /* of these, found stored */
	uint64_t no_request; /* no path was asked for */
	uint64_t elsewhere;  /* not under --path-prefix */
	uint64_t no_code;    /* no code by form, as /favicon.ico */
	uint64_t no_address; /* of the clicks */
	uint64_t no_agent;   /* the same */
	uint64_t odd_client; /* clicks whose forwarded client is no address */
	uint64_t blank;
	uint64_t remarks; /* lines about the log */
	uint64_t unreadable;
	bool refused;		   /* nothing of it was stored */
	bool unfinished;	   /* the last line has no newline yet */
	int64_t first_ms, last_ms; /* times of clicks; 0: none */
	int64_t started;	   /* monotonic ms */

	struct {
		uint64_t line;
		struct error why;
	} reasons[IMPORT_STATS_REASONS_MAX];
	/* The first of their kind, as printable text. */
	char odd_example[IMPORT_STATS_EXAMPLE_MAX];
	char path_example[IMPORT_STATS_EXAMPLE_MAX];
	FILE *rejects; /* of the caller; NULL: none */

	struct log *log;
	struct bar bar;
	int64_t shown;
};

void import_stats_begin(struct import_stats *s, const char *file, FILE *rejects,
			struct log *log);

void import_stats_unreadable(struct import_stats *s, const char *line,
			     size_t len, const struct error *why);
void import_stats_click(struct import_stats *s,
			const struct access_visit *visit);
void import_stats_no_code(struct import_stats *s,
			  const struct access_visit *visit);

/* ERROR_INPUT when what was read so far would be wrong: nothing is a click, or
 * no click has an address, or none an agent. */
int import_stats_check(struct import_stats *s, struct error *err);

/* Shows how far it is: a bar on a terminal, a line every few seconds else. */
void import_stats_show(struct import_stats *s, uint64_t done, uint64_t size);

/* Takes the bar away. */
void import_stats_hide(struct import_stats *s);

/* Prints what came of it to stdout.  `unknown`: names that were not understood,
 * or "". */
void import_stats_report(struct import_stats *s, const char *format,
			 const char *topic, const char *unknown);

#endif
