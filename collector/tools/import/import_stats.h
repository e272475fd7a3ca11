/*
 * import_stats.h - the progress of an import: its counts, the unreadable lines,
 * the position.
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
	IMPORT_STATS_REASONS_MAX = 5, /* unreadable lines shown at the end */
	IMPORT_STATS_EXAMPLE_MAX = 80,
};

struct import_stats {
	const char *file;
	bool dry_run;
	uint64_t lines;	     /* lines read, including `before` */
	uint64_t before;     /* imported by an earlier run */
	uint64_t clicks;     /* rows, including `stored` */
	uint64_t stored;     /* rows that were stored already */
	uint64_t no_request; /* the request has no path */
	uint64_t elsewhere;  /* not under --path-prefix */
	uint64_t no_code;    /* no valid code, as /favicon.ico */
	uint64_t no_address; /* clicks without an address */
	uint64_t no_agent;   /* clicks without a user agent */
	uint64_t odd_client; /* clicks whose forwarded client is no address */
	uint64_t misplaced;  /* clicks under a host that is not the link's */
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
	/* The first example of each kind, as printable text. */
	char odd_example[IMPORT_STATS_EXAMPLE_MAX];
	char path_example[IMPORT_STATS_EXAMPLE_MAX];
	char misplaced_example[IMPORT_STATS_EXAMPLE_MAX];
	FILE *rejects; /* the caller's; NULL: none */

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

/* Counts clicks whose code is a link's under other hosts only; the first was
 * for this host and code. */
void import_stats_misplaced(struct import_stats *s, uint64_t count,
			    const char *host, const char *code);

/* Returns ERROR_INPUT when the import would be wrong: there are no clicks, or
 * no click has an address, or none has a user agent. */
int import_stats_check(struct import_stats *s, struct error *err);

/* Shows the progress: a bar on a terminal, otherwise a line every few
 * seconds. */
void import_stats_show(struct import_stats *s, uint64_t done, uint64_t size);

/* Removes the bar. */
void import_stats_hide(struct import_stats *s);

/* Prints the result to stdout.  `unknown`: the names that are not known, or
 * "". */
void import_stats_report(struct import_stats *s, const char *format,
			 const char *topic, const char *unknown);

#endif
