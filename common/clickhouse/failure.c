#include "common/clickhouse/failure.h"

#include <ctype.h>
#include <string.h>

/* In ascending order.  These are overload, lost contact inside the cluster, and
 * states that an administrator or the server itself ends: a retry is right for
 * each. */
static const int passing_codes[] = {
	159, /* TIMEOUT_EXCEEDED */
	160, /* TOO_SLOW */
	164, /* READONLY */
	198, /* DNS_ERROR */
	202, /* TOO_MANY_SIMULTANEOUS_QUERIES */
	203, /* NO_FREE_CONNECTION */
	209, /* SOCKET_TIMEOUT */
	210, /* NETWORK_ERROR */
	216, /* QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: libcurl repeats a request
		that a kept connection lost, and the first is still running */
	225, /* NO_ZOOKEEPER */
	236, /* ABORTED */
	241, /* MEMORY_LIMIT_EXCEEDED */
	242, /* TABLE_IS_READ_ONLY */
	243, /* NOT_ENOUGH_SPACE */
	252, /* TOO_MANY_PARTS */
	279, /* ALL_CONNECTION_TRIES_FAILED */
	285, /* TOO_FEW_LIVE_REPLICAS */
	286, /* UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE */
	319, /* UNKNOWN_STATUS_OF_INSERT */
	394, /* QUERY_WAS_CANCELLED */
	439, /* CANNOT_SCHEDULE_TASK */
	473, /* DEADLOCK_AVOIDED */
	745, /* SERVER_OVERLOADED */
	999, /* KEEPER_EXCEPTION */
};

int clickhouse_code_of_body(const char *body, size_t len)
{
	static const char mark[] = "Code: ";
	const char *p = len ? memmem(body, len, mark, sizeof(mark) - 1) : NULL;
	int code = 0;

	if (!p)
		return 0;
	for (p += sizeof(mark) - 1;
	     p < body + len && isdigit((unsigned char)*p); p++)
		if (code < 100000)
			code = code * 10 + (*p - '0');
	return code;
}

bool clickhouse_code_is_passing(int code)
{
	for (size_t i = 0; i < sizeof(passing_codes) / sizeof(int); i++)
		if (passing_codes[i] == code)
			return true;
	return false;
}

bool clickhouse_status_is_passing(long http_status)
{
	return http_status >= 500 || http_status == 429 || http_status == 408;
}

int clickhouse_failure_set(struct error *err, long http_status, int code,
			   const char *body, size_t len)
{
	const char *newline = len ? memchr(body, '\n', len) : NULL;
	size_t line = newline ? (size_t)(newline - body) : len;
	bool passing = code ? clickhouse_code_is_passing(code)
			    : clickhouse_status_is_passing(http_status);

	if (line > 400)
		line = 400;
	error_set(err, ERROR_REMOTE, "HTTP %ld%s%.*s", http_status,
		  line ? ": " : "", (int)line, line ? body : "");
	err->retriable = passing;
	return error_keep_inside(err, CLICKHOUSE_FAILED);
}
