#include "collector/tools/rescore/rescore_sql.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "collector/enrich/click_verdict.h"
#include "common/clock.h"

/* The data that decides a verdict, in a form that StorageJoin accepts as a
 * key. */
#define KEY "sipHash128(user_agent, toString(purpose), outcome = 'head')"

#define VISITOR "sipHash128(unique_identity)"
#define AT	"toUnixTimestamp64Milli(ts)"

/* False for rows of forgotten visitors (`aggregator forget`): the data that
 * decided their verdict is gone. */
#define IS_SOMEBODY "unique_identity != toFixedString('', 20)"

/* The type of the column `verdict` in schemas/clickhouse/clicks.sql. */
#define VERDICT_TYPE                                                           \
	"Enum8(\\'human\\' = 0, \\'bot\\' = 1, \\'prefetch\\' = 2, "           \
	"\\'preview\\' = 3, \\'monitor\\' = 4, \\'scanner\\' = 5)"

static bool has_bursts(const struct rescore *rs)
{
	return rs->settings->scan_codes || rs->settings->scan_not_found;
}

/* Writes a table's full name: a mutation has no current database. */
static void put_table(const struct rescore *rs, const char *what,
		      struct buf *sql)
{
	buf_printf(sql, "%s.rescore_%s_%s", rs->config->clickhouse.database,
		   what, rs->name);
}

/* Writes a condition for the day and `beside` ms before and after it. */
static void put_times(const struct rescore *rs, int64_t beside, struct buf *sql)
{
	buf_printf(
		sql,
		"ts >= fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC') AND ts < fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC')",
		rs->day * CLOCK_DAY - beside,
		(rs->day + 1) * CLOCK_DAY + beside);
}

static void put_day(const struct rescore *rs, struct buf *sql)
{
	put_times(rs, 0, sql);
}

/* Writes a literal of any bytes. */
static void put_literal(const char *text, struct buf *sql)
{
	buf_putc(sql, '\'');
	for (; *text; text++)
		buf_printf(sql, "\\x%02x", (unsigned char)*text);
	buf_putc(sql, '\'');
}

static void put_is_owned(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "account = ");
	put_literal(rs->account, sql);
	if (!rs->owner)
		return;
	buf_puts(sql, " AND owner = ");
	put_literal(rs->owner, sql);
}

/* Adds the condition for the account or owner whose rows the run changes, if
 * any. */
static void put_and_owned(const struct rescore *rs, struct buf *sql)
{
	if (!rs->account)
		return;
	buf_puts(sql, " AND ");
	put_is_owned(rs, sql);
}

/* Bursts around midnight need some rows of the days before and after. */
static void put_day_and_window(const struct rescore *rs, struct buf *sql)
{
	put_times(rs, has_bursts(rs) ? rs->settings->scan_window : 0, sql);
}

/* Writes the known data of the row's user agent and headers; 0 for a row that
 * arrived after they were listed. */
static void put_known(const struct rescore *rs, const char *column,
		      struct buf *sql)
{
	buf_puts(sql, "joinGet('");
	put_table(rs, "map", sql);
	buf_printf(sql, "', '%s', " KEY ")", column);
}

/* Writes the number of the classification. */
static void put_classification(const struct rescore *rs, struct buf *sql)
{
	put_known(rs, "o", sql);
}

/* Writes the classifications whose clicks bursts may change: "(1,4)"; (0):
 * none. */
static void put_open_classifications(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "(0");
	for (size_t i = 0; i < rs->classification_count; i++)
		if (verdict_leaves_open(rs->classifications[i].verdict))
			buf_printf(sql, ",%zu", i + 1);
	buf_puts(sql, ")");
}

static void put_burst_column(const struct rescore *rs, const char *column,
			     struct buf *sql)
{
	buf_puts(sql, ", joinGet('");
	put_table(rs, "bursts", sql);
	buf_printf(sql, "', '%s', " VISITOR ")", column);
}

/* Writes the enum burst of the row. */
static void put_burst(const struct rescore *rs, struct buf *sql)
{
	if (!has_bursts(rs)) {
		buf_puts(sql, "0");
		return;
	}
	buf_puts(sql, "if(");
	put_classification(rs, sql);
	buf_puts(sql, " IN ");
	put_open_classifications(rs, sql);
	buf_puts(sql, ", arraySum((f, l, k) -> if(" AT " >= f AND " AT
		      " <= l, k, 0)");
	put_burst_column(rs, "since", sql);
	put_burst_column(rs, "until", sql);
	put_burst_column(rs, "kind", sql);
	buf_puts(sql, "), 0)");
}

/* Writes "[1,2,3], number)", the array with its index, which is never 0. */
static void put_index(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "], greatest(");
	put_classification(rs, sql);
	buf_puts(sql, ", 1))");
}

/* --- the operator's rules ------------------------------------------------- */

static const struct verdict_rules *rules_of(const struct rescore *rs)
{
	return rs->lookups->ref.verdict_rules;
}

static void put_names(const char *column, char *const *names, size_t count,
		      struct buf *sql)
{
	if (!count)
		return;
	buf_printf(sql, " AND %s IN (", column);
	for (size_t i = 0; i < count; i++) {
		buf_puts(sql, i ? "," : "");
		put_literal(names[i], sql);
	}
	buf_putc(sql, ')');
}

static void put_asns(const struct verdict_rule *rule, struct buf *sql)
{
	buf_puts(sql, " AND asn IN (");
	for (size_t i = 0; i < rule->asn_count; i++)
		buf_printf(sql, "%s%" PRIu32, i ? "," : "", rule->asns[i]);
	buf_putc(sql, ')');
}

static void put_networks(const struct verdict_rule *rule, struct buf *sql)
{
	char first[INET6_ADDRSTRLEN], last[INET6_ADDRSTRLEN];

	buf_puts(sql, " AND (");
	for (size_t i = 0; i < rule->network_count; i++) {
		inet_ntop(AF_INET6, rule->networks[i].first, first,
			  sizeof(first));
		inet_ntop(AF_INET6, rule->networks[i].last, last, sizeof(last));
		buf_printf(sql, "%s(ip >= toIPv6('%s') AND ip <= toIPv6('%s'))",
			   i ? " OR " : "", first, last);
	}
	buf_putc(sql, ')');
}

/* Writes the number of the first rule that matches the row, from 1; 0: none. */
static void put_rule(const struct rescore *rs, struct buf *sql)
{
	const struct verdict_rules *rules = rules_of(rs);

	if (!rules->count) {
		buf_puts(sql, "0");
		return;
	}
	buf_puts(sql, "multiIf(");
	for (size_t i = 0; i < rules->count; i++) {
		const struct verdict_rule *rule = &rules->items[i];

		buf_puts(sql, "bitTest(");
		put_known(rs, "matched", sql);
		buf_printf(sql, ", %zu)", i);
		put_names("account", rule->accounts, rule->account_count, sql);
		put_names("owner", rule->owners, rule->owner_count, sql);
		if (rule->asn_count)
			put_asns(rule, sql);
		if (rule->network_count)
			put_networks(rule, sql);
		buf_printf(sql, ", %zu, ", i + 1);
	}
	buf_puts(sql, "0)");
}

/* Writes "arrayElement([a, b], number)" over the rules; 1 if there is none.
 * `r` is the number, see put_ruled. */
static void put_of_rule(const struct rescore *rs, bool reason, struct buf *sql)
{
	const struct verdict_rules *rules = rules_of(rs);

	buf_puts(sql, "arrayElement([");
	for (size_t i = 0; i < rules->count; i++) {
		buf_puts(sql, i ? "," : "");
		if (reason)
			put_literal(rules->items[i].verdict.reason, sql);
		else
			buf_printf(sql, "%d", rules->items[i].verdict.kind);
	}
	buf_puts(sql, "], greatest(r, 1))");
}

/* Does the same over the classifications; `column` holds the number of one. */
static void put_of_class(const struct rescore *rs, const char *column,
			 bool reason, struct buf *sql)
{
	buf_puts(sql, "arrayElement([");
	for (size_t i = 0; i < rs->classification_count; i++) {
		const struct verdict *v = &rs->classifications[i].verdict;

		if (reason)
			buf_printf(sql, "%s'%s'", i ? "," : "", v->reason);
		else
			buf_printf(sql, "%s%d", i ? "," : "", v->kind);
	}
	buf_puts(sql, "], greatest(");
	put_known(rs, column, sql);
	buf_puts(sql, ", 1))");
}

/*
 * Does the same as verdict_of_rule; the caller adds the value for no rule, then
 * put_ruled_end.  The rule's number is a lambda's argument, so that its
 * expression, which has a term for each network of the rules, appears only
 * once.
 */
static void put_ruled(const struct rescore *rs, bool reason, struct buf *sql)
{
	if (!rules_of(rs)->count)
		return;
	buf_puts(sql, "arrayElement(arrayMap(r -> if(r > 0, if(");
	put_of_rule(rs, false, sql);
	buf_printf(sql, " = %d AND ", VERDICT_HUMAN);
	put_of_class(rs, "ahead", false, sql);
	buf_printf(sql, " != %d, ", VERDICT_HUMAN);
	put_of_class(rs, "ahead", reason, sql);
	buf_puts(sql, ", ");
	put_of_rule(rs, reason, sql);
	buf_puts(sql, "), ");
}

static void put_ruled_end(const struct rescore *rs, struct buf *sql)
{
	if (!rules_of(rs)->count)
		return;
	buf_puts(sql, "), [");
	put_rule(rs, sql);
	buf_puts(sql, "]), 1)");
}

/* --- new values of a row -------------------------------------------------- */

static void put_verdict(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "toInt8(");
	put_ruled(rs, false, sql);
	buf_puts(sql, "if(");
	put_burst(rs, sql);
	buf_printf(sql, " > 0, %d, ", VERDICT_SCANNER);
	put_of_class(rs, "o", false, sql);
	buf_putc(sql, ')');
	put_ruled_end(rs, sql);
	buf_putc(sql, ')');
}

static void put_reason(const struct rescore *rs, struct buf *sql)
{
	put_ruled(rs, true, sql);
	buf_puts(sql, "transform(");
	put_burst(rs, sql);
	buf_printf(sql, ", [%d, %d], ['%s', '%s'], ", BURST_CODES,
		   BURST_NOT_FOUND,
		   verdict_of_burst(BURST_CODES, verdict_human).reason,
		   verdict_of_burst(BURST_NOT_FOUND, verdict_human).reason);
	put_of_class(rs, "o", true, sql);
	buf_putc(sql, ')');
	put_ruled_end(rs, sql);
}

static void put_class(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "arrayElement([");
	for (size_t i = 0; i < rs->classification_count; i++)
		buf_printf(sql, "%s'%s'", i ? "," : "",
			   rs->classifications[i].device_class);
	put_index(rs, sql);
}

static void put_differs(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, IS_SOMEBODY);
	put_and_owned(rs, sql);
	buf_puts(sql, " AND ");
	put_classification(rs, sql);
	buf_printf(sql,
		   " != 0 AND (verdict_version != %" PRIu32
		   " OR toInt8(verdict) != ",
		   rs->lookups->ref.rules);
	put_verdict(rs, sql);
	buf_puts(sql, " OR verdict_reason != ");
	put_reason(rs, sql);
	buf_puts(sql, " OR device_class != ");
	put_class(rs, sql);
	buf_puts(sql, ")");
}

/* --- statements -------------------------------------------------------- */

static void put_create_table(const struct rescore *rs, const char *what,
			     const char *rest, struct buf *sql)
{
	buf_puts(sql, "CREATE TABLE ");
	put_table(rs, what, sql);
	buf_printf(sql, " %s", rest);
}

void rescore_sql_make_agents(const struct rescore *rs, struct buf *sql)
{
	put_create_table(
		rs, "agents",
		"(key FixedString(16), user_agent String, purpose String, "
		"head Bool) ENGINE = MergeTree ORDER BY key",
		sql);
}

void rescore_sql_make_map(const struct rescore *rs, struct buf *sql)
{
	put_create_table(
		rs, "map",
		"(key FixedString(16), o UInt16, ahead UInt16, matched UInt64) "
		"ENGINE = Join(ANY, LEFT, key)",
		sql);
}

void rescore_sql_make_bursts(const struct rescore *rs, struct buf *sql)
{
	put_create_table(rs, "bursts",
			 "(visitor FixedString(16), since Array(Int64), "
			 "until Array(Int64), kind Array(UInt8)) "
			 "ENGINE = Join(ANY, LEFT, visitor)",
			 sql);
}

/* Adds the condition for the rows that decide about the rows that change.  If
 * there are bursts, these are all clicks of the visitors that are in a burst
 * with one of these. */
static void put_and_judging(const struct rescore *rs, struct buf *sql)
{
	if (!rs->account || !has_bursts(rs)) {
		put_and_owned(rs, sql);
		return;
	}
	buf_puts(sql, " AND unique_identity IN (SELECT unique_identity FROM "
		      "clicks WHERE ");
	put_day(rs, sql);
	put_and_owned(rs, sql);
	buf_putc(sql, ')');
}

void rescore_sql_fill_agents(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "INSERT INTO ");
	put_table(rs, "agents", sql);
	buf_puts(sql, " SELECT " KEY
		      " AS k, any(user_agent), any(toString(purpose)), "
		      "any(outcome = 'head') FROM clicks WHERE ");
	put_day_and_window(rs, sql);
	put_and_judging(rs, sql);
	buf_puts(sql, " GROUP BY k");
}

void rescore_sql_agents_after(const struct rescore *rs, const char *last_hex,
			      int64_t limit, struct buf *sql)
{
	buf_printf(sql,
		   "SELECT hex(key), hex(substring(user_agent, 1, %" PRId64
		   ")), hex(purpose), toUInt8(head) FROM ",
		   rs->settings->max_text);
	put_table(rs, "agents", sql);
	if (*last_hex)
		buf_printf(sql, " WHERE key > toFixedString(unhex('%s'), 16)",
			   last_hex);
	buf_printf(sql, " ORDER BY key LIMIT %" PRId64 " FORMAT TabSeparated",
		   limit);
}

void rescore_sql_insert_map(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "INSERT INTO ");
	put_table(rs, "map", sql);
	buf_puts(sql, " (key, o, ahead, matched) FORMAT RowBinary");
}

/* Selects the visitors that may be in a burst; there are few. */
static void put_busy_visitors(const struct rescore *rs, struct buf *sql)
{
	const struct collector_settings *s = rs->settings;

	buf_puts(sql, "SELECT unique_identity FROM clicks WHERE ");
	put_day_and_window(rs, sql);
	buf_puts(sql, " AND " IS_SOMEBODY " GROUP BY unique_identity HAVING (");
	if (s->scan_codes)
		buf_printf(sql, "count() >= %" PRId64, s->scan_codes);
	if (s->scan_not_found)
		buf_printf(sql, "%scountIf(outcome = 'not_found') >= %" PRId64,
			   s->scan_codes ? " OR " : "", s->scan_not_found);
	buf_puts(sql, ")");
	if (rs->account) {
		buf_puts(sql, " AND countIf(");
		put_is_owned(rs, sql);
		buf_puts(sql, ") > 0");
	}
}

/*
 * Selects their requests, with the time of the last request for the same code.
 * A window that starts at s and holds a request at t counts the code at the
 * first such request: where before < s <= t and s >= t - window.  So each
 * request adds one to all s from max(before + 1, t - window) on, and subtracts
 * it after t.
 */
static void put_steps(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql,
		 "r AS (SELECT " VISITOR " AS v, " AT
		 " AS t, lagInFrame(toNullable(" AT
		 ")) OVER (PARTITION BY unique_identity, code "
		 "ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND "
		 "CURRENT ROW) AS before, toInt64(outcome = 'not_found' "
		 "AND ifNull(before != t, 1)) AS missed FROM clicks WHERE ");
	put_day_and_window(rs, sql);
	buf_puts(sql, " AND ");
	put_classification(rs, sql);
	buf_puts(sql, " IN ");
	put_open_classifications(rs, sql);
	if (rules_of(rs)->count) {
		buf_puts(sql, " AND ");
		put_rule(rs, sql);
		buf_puts(sql, " = 0");
	}
	buf_puts(sql, " AND unique_identity IN (");
	put_busy_visitors(rs, sql);
	buf_puts(sql, ")), e AS (SELECT v, x.1 AS pos, sum(x.2) AS codes, "
		      "sum(x.3) AS losts FROM (SELECT v, arrayJoin(["
		      "(greatest(ifNull(before + 1, t - w), t - w), 1, 0), "
		      "(t + 1, -1, 0), (t - w, 0, missed), (t + 1, 0, "
		      "-missed)]) AS x "
		      "FROM r) GROUP BY v, pos), ");
}

/* Uses the steps to find the ranges of s at which a window holds too many
 * requests, and the merged times of these windows. */
void rescore_sql_fill_bursts(const struct rescore *rs, struct buf *sql)
{
	const struct collector_settings *s = rs->settings;
	int64_t codes = s->scan_codes ? s->scan_codes : INT64_MAX;
	int64_t lost = s->scan_not_found ? s->scan_not_found : INT64_MAX;

	buf_puts(sql, "INSERT INTO ");
	put_table(rs, "bursts", sql);
	buf_printf(sql, " WITH toInt64(%" PRId64 ") AS w, ", s->scan_window);
	put_steps(rs, sql);
	buf_printf(
		sql,
		"s AS (SELECT v, pos, sum(codes) OVER (PARTITION BY v ORDER BY "
		"pos) AS c, sum(losts) OVER (PARTITION BY v ORDER BY pos) AS "
		"n, leadInFrame(pos) OVER (PARTITION BY v ORDER BY pos ROWS "
		"BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS until FROM e) "
		"SELECT v, arrayMap(g -> g[1].1, groups), "
		"arrayMap(g -> arrayMax(y -> y.2, g), groups), "
		"arrayMap(g -> arrayMax(y -> y.3, g), groups) FROM ("
		"SELECT v, arraySort(groupArray((pos, until - 1 + w, "
		"if(n >= %" PRId64 ", %d, %d)))) AS a, "
		"arraySplit((x, i) -> i > 1 AND x.1 > a[i - 1].2, a, "
		"arrayEnumerate(a)) AS groups "
		"FROM s WHERE c >= %" PRId64 " OR n >= %" PRId64 " GROUP BY v)",
		lost, BURST_NOT_FOUND, BURST_CODES, codes, lost);
}

/* The hours of rows whose verdict, reason or class changes must be settled
 * again, since these are counted; the version alone is not. */
void rescore_sql_preview(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "SELECT toInt8(verdict) AS was, ");
	put_verdict(rs, sql);
	buf_puts(sql, " AS now, count(), groupUniqArrayIf("
		      "intDiv(toUnixTimestamp(ts), 3600) * 3600, "
		      "was != now OR verdict_reason != ");
	put_reason(rs, sql);
	buf_puts(sql, " OR device_class != ");
	put_class(rs, sql);
	buf_puts(sql, ") FROM clicks WHERE ");
	put_day(rs, sql);
	buf_puts(sql, " AND ");
	put_differs(rs, sql);
	buf_puts(sql, " GROUP BY was, now ORDER BY was, now "
		      "FORMAT TabSeparated");
}

void rescore_sql_rules(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "SELECT ");
	put_rule(rs, sql);
	buf_puts(sql, " AS rule, count(), countIf(toInt8(verdict) != ");
	put_verdict(rs, sql);
	buf_puts(sql, ") FROM clicks WHERE ");
	put_day(rs, sql);
	buf_puts(sql, " AND " IS_SOMEBODY);
	put_and_owned(rs, sql);
	buf_puts(sql, " GROUP BY rule HAVING rule > 0 ORDER BY rule "
		      "FORMAT TabSeparated");
}

void rescore_sql_update(const struct rescore *rs, struct buf *sql)
{
	buf_puts(sql, "ALTER TABLE clicks UPDATE verdict = CAST(");
	put_verdict(rs, sql);
	buf_puts(sql, ", '" VERDICT_TYPE "'), verdict_reason = ");
	put_reason(rs, sql);
	buf_puts(sql, ", device_class = ");
	put_class(rs, sql);
	buf_printf(sql, ", verdict_version = %" PRIu32 " IN PARTITION ID '",
		   rs->lookups->ref.rules);
	buf_printf(sql, "%s' WHERE ", rs->partition);
	put_differs(rs, sql);
}
