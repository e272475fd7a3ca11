#include "common/clickhouse/clickhouse.h"

#include <sys/stat.h>

#include "common/clickhouse/server_url.h"
#include "common/clock.h"

static const char *const compressions[] = {"zstd", "gzip", "none", NULL};

#define SETTING_STRUCT struct clickhouse_config
static const struct setting settings[] = {
	SETTING_URL(
		url, "http://127.0.0.1:8123", AT_START,
		"Where ClickHouse's HTTP interface is; https is spoken too."),
	SETTING_STRING(database, "default", AT_START,
		       "The database that holds the tables."),
	SETTING_STRING(username, OPTIONAL, AT_START,
		       "Sent as X-ClickHouse-User."),
	SETTING_SECRET(password, OPTIONAL, AT_START,
		       "Sent as X-ClickHouse-Key."),
	SETTING_STRING(cluster, OPTIONAL, AT_START,
		       "Where tables are replicated and the URL is that of a "
		       "balancer: the name of the cluster (system.clusters), "
		       "so that a query can be ended wherever it runs."),
	SETTING_PATH(
		ca_file, OPTIONAL, AT_START,
		"Certificates to trust for https, instead of the system's."),
	SETTING_DURATION(connect_timeout, "3s", 1, 10 * CLOCK_MINUTE, AT_START,
			 "How long a connection may take to be made."),
	SETTING_DURATION(query_timeout, "60s", 1, CLOCK_DAY, AT_START,
			 "How long one request may take, answer included."),
	SETTING_SIZE(response_max, "256MiB", 4096, INT64_C(1) << 40, AT_START,
		     "The largest answer taken; a longer one is an error."),
	SETTING_ENUM(compression, "zstd", compressions, AT_START,
		     "How inserted data is compressed on its way."),
	{0},
};

/* Checks a file that libcurl opens itself: it would block on one that is not a
 * regular file. */
static int check_ca_file(const char *path, struct error *err)
{
	struct stat st;

	if (!path || stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "clickhouse.ca_file: %s: not a plain file", path);
}

static int check_clickhouse_config(const void *section, struct error *err)
{
	const struct clickhouse_config *config = section;
	struct server_url url;

	if (check_ca_file(config->ca_file, err) < 0 ||
	    server_url_read(config, &url, err) < 0)
		return -1;
	server_url_release(&url);
	return 0;
}

const struct setting_section clickhouse_section = {
	.name = "clickhouse",
	.help = "ClickHouse, or a server that speaks its HTTP interface.",
	.settings = settings,
	.check = check_clickhouse_config,
};
