#include <stdio.h>

#include "collector/collector_config.h"
#include "collector/commands.h"
#include "collector/enrich/reference.h"
#include "common/app/app.h"

static const struct app_command commands[] = {
	{"serve", "turn events into rows until stopped", NULL, collector_serve},
	{"explain", "show what would be made of visits: NDJSON in, NDJSON out",
	 NULL, collector_explain},
	{"verify", "prove that every event was counted once; 1: it was not so",
	 NULL, collector_verify},
	{"rescore", "apply today's rules to the verdicts of past days", NULL,
	 collector_rescore},
	{"dlq", "show what could not be stored, or send it again",
	 "list | replay", collector_dlq},
	{"epoch",
	 "show whether a topic fits its rows, and decide; 1: it does not", NULL,
	 collector_epoch},
	{"pass", "show which offsets of a topic are passed over, or name more",
	 NULL, collector_pass},
	{"guarantee",
	 "measure what ClickHouse promises; 1: less than exactly once", NULL,
	 collector_guarantee},
	{"import", "turn past access logs into rows, once", "FILE ...",
	 collector_import},
	{0},
};

/* The names of all import formats: "auto, json, ... ". */
#define ACCESS_FORMAT(name, format, open_end) name ", "
#define ACCESS_FORMAT_ALSO(name, other)	      name ", "
static const char formats_help[] =
	"auto, "
#include "collector/tools/access_log/access_formats.inc"
	"or a LogFormat of Apache's or log_format of nginx's (auto)";

static const struct app_option options[] = {
	{"why", NULL, "say which rule decided each value", "explain"},
	{"from", "TIME",
	 "a day (UTC) or an RFC 3339 time; of verify 24 hours back if not",
	 "verify rescore dlq"},
	{"to", "TIME",
	 "up to that, without it; of rescore the last day, with it; now if not",
	 "verify rescore dlq"},
	{"account", "NAME",
	 "only clicks of this account's links; everybody's if not", "rescore"},
	{"owner", "NAME", "only clicks of the links of this owner in it",
	 "rescore"},
	{"topic", "NAME", "clicks if not, or links; of pass also counters",
	 "verify epoch pass"},
	{"json", NULL, "write one JSON object to stdout, rather than text",
	 "verify dlq"},
	{"dry-run", NULL, "say what would be done, and do nothing",
	 "rescore dlq import pass"},
	{"limit", "N", "list the newest N letters; 50 if not", "dlq"},
	{"offset", "LIST",
	 "these letters, or of pass events: 12, 3-9 or PARTITION:3-9, "
	 "separated "
	 "by commas",
	 "dlq pass"},
	{"reason", "TEXT",
	 "letters with that in their reason; of pass why they are passed over",
	 "dlq pass"},
	{"all", NULL, "of dlq all letters; of verify all findings",
	 "dlq verify"},
	{"force", NULL,
	 "of dlq also what was sent before, or came back too often; of epoch "
	 "partitions that fit, too; of import a log in which no visit has an "
	 "address, a user agent or a code, and visits whose address is none",
	 "dlq epoch import"},
	{"partition", "LIST",
	 "these partitions, separated by commas; those that do not fit if not",
	 "epoch"},
	{"same", NULL, "the log is what it was: go on after what is stored",
	 "epoch"},
	{"resume", NULL,
	 "the log was cut: go on where it parts from what is stored", "epoch"},
	{"end", NULL,
	 "go on at the log's end; what lies before and is not stored is lost",
	 "epoch"},
	{"new", NULL, "the log was made anew: store all it holds", "epoch"},
	{"format", "FORMAT", formats_help, "import"},
	{"json-keys", "LIST",
	 "which keys of a log in JSON are what: time=when,address=peer.ip",
	 "import"},
	{"path-prefix", "PATH", "codes are the first segment behind it (/)",
	 "import"},
	{"pass-path", NULL,
	 "a path behind the code belongs to the visit, rather than elsewhere",
	 "import"},
	{"client-address", "WHICH",
	 "forwarded: the client that a proxy's header names, else the peer; "
	 "peer: the peer of the connection (forwarded)",
	 "import"},
	{"trusted-proxies", "LIST",
	 "networks of proxies, by which such headers are read as the "
	 "redirector does; the first public address if not",
	 "import"},
	{"zone", "NAME", "the time zone of times that name none (UTC)",
	 "import"},
	{"domain", "HOST", "the host that was visited, whatever the log says",
	 "import"},
	{"domains", "FILE",
	 "the domains of the links, as allocator domains show prints them; "
	 "those of the configuration if not",
	 "import"},
	{"edge", "NAME", "what to write as edge (import)", "import"},
	{"identity", "NAME",
	 "the log's name, rather than by how it begins; standard input has to "
	 "have one",
	 "import"},
	{"undo", "IDENTITY",
	 "take the import of that log back: it is as if it had never been",
	 "import"},
	{"rejects", "FILE", "where lines go that could not be read", "import"},
	{"wait", "TIME", "how long ClickHouse may be away (1m)", "import"},
	{0},
};

/* For --check: reads the files that a start reads.  `config` is a struct
 * collector_config.  An invalid file is ERROR_CONFIG. */
static int check_files(const void *config, struct error *err)
{
	const struct collector_config *c = config;
	struct reference ref = {0};
	const char *remark = NULL;
	int rc = -1;

	if (reference_load_rules(&ref, &c->collector, err) == 0)
		rc = reference_load_places(&ref, &c->collector, err);
	if (rc == 0)
		remark = reference_remark(&ref);
	if (remark)
		fprintf(stderr, "warning: %s\n", remark);
	reference_release(&ref);
	return rc;
}

int main(int argc, char **argv)
{
	const struct app_spec spec = {
		.name = "collector",
		.summary = "turns the events of clicks into rows of ClickHouse",
		.commands = commands,
		.default_command = "serve",
		.options = options,
		.groups = collector_groups,
		.group_count = collector_group_count,
		.validate = collector_config_validate,
		.check = check_files,
	};
	struct collector_config config = {0};

	return app_main(&spec, &config, &config.app, argc, argv);
}
