/* A real engine finds the links that lead to a host, and how far it has come
 * with the events of a Kafka. */
#include "tests/unit/clickhouse_server.h"
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include <inttypes.h>

#include "allocator/archive/host_links.h"
#include "allocator/archive/link_events_mark.h"
#include "common/kafka/log_ends.h"

static int start_engine(void **state)
{
	struct clickhouse_server *s = calloc(1, sizeof(*s));

	clickhouse_server_start(s);
	clickhouse_server_migrate(s);
	*state = s;
	return 0;
}

static int stop_engine(void **state)
{
	clickhouse_server_stop(*state);
	free(*state);
	return 0;
}

struct walk {
	size_t count, end_after;
	char last[65];
	uint64_t last_id;
};

static int on_link(void *arg, const struct host_link *link, struct error *err)
{
	struct walk *w = arg;

	assert_true(
		strcmp(link->code, w->last) > 0 ||
		(!strcmp(link->code, w->last) && link->link_id > w->last_id));
	assert_string_equal(link->account, "acme");
	snprintf(w->last, sizeof(w->last), "%s", link->code);
	w->last_id = link->link_id;
	w->count++;
	return w->count == w->end_after
		       ? error_set(err, ERROR_STOPPED, "enough")
		       : 0;
}

static size_t count_links(struct clickhouse_server *s, const char *domain)
{
	struct error err = {0};
	struct walk w = {0};

	if (host_links_each(s->ch, domain, on_link, &w, &err) < 0)
		fail_msg("%s", err.text);
	return w.count;
}

/* Inserts `count` links from `first` on, three to a code. */
static void insert_links(struct clickhouse_server *s, unsigned first,
			 unsigned count, unsigned version, const char *state,
			 const char *host)
{
	clickhouse_server_do(
		s,
		"INSERT INTO links (code, link_id, version, state, account, "
		"url, target_hosts) SELECT concat('c', "
		"toString(intDiv(number, 3))), number, %u, '%s', 'acme', "
		"concat('https://www.%s/', toString(number)), ['%s'] "
		"FROM numbers(%u, %u)",
		version, state, host, host, first, count);
}

static void all_pages_are_walked_in_the_order_of_codes(void **state)
{
	struct clickhouse_server *s = *state;

	insert_links(s, 0, 3500, 1, "live", "bad.test");
	insert_links(s, 5000, 20, 1, "live", "good.test");
	assert_int_equal(count_links(s, ".bad.test"), 3500);
	assert_int_equal(count_links(s, "www.bad.test"), 3500);
	assert_int_equal(count_links(s, "bad.test"), 0);
	assert_int_equal(count_links(s, ".test"), 3520);
	assert_int_equal(count_links(s, ".other.test"), 0);
}

/* More than a page of links that lead elsewhere by now. */
static void the_newest_version_decides(void **state)
{
	struct clickhouse_server *s = *state;

	insert_links(s, 0, 1500, 2, "live", "good.test");
	insert_links(s, 1500, 100, 2, "blocked", "bad.test");
	insert_links(s, 1600, 100, 2, "deleted", "bad.test");
	assert_int_equal(count_links(s, ".bad.test"), 1800);
	insert_links(s, 0, 2, 3, "live", "bad.test");
	assert_int_equal(count_links(s, ".bad.test"), 1802);
}

static void an_error_ends_the_walk(void **state)
{
	struct clickhouse_server *s = *state;
	struct walk w = {.end_after = 7};
	struct error err = {0};

	assert_int_equal(host_links_each(s->ch, ".bad.test", on_link, &w, &err),
			 -1);
	assert_int_equal(err.code, ERROR_STOPPED);
	assert_int_equal(w.count, 7);
}

/* --- marks ---------------------------------------------------------------- */

static void produce_events(rd_kafka_mock_cluster_t *mock, const char *topic,
			   int32_t partition, int count)
{
	rd_kafka_t *rk = mock_kafka_producer(mock);

	for (int i = 0; i < count; i++)
		assert_int_equal(
			rd_kafka_producev(
				rk, RD_KAFKA_V_TOPIC(topic),
				RD_KAFKA_V_PARTITION(partition),
				RD_KAFKA_V_VALUE(drop_const("x"), (size_t)1),
				RD_KAFKA_V_END),
			RD_KAFKA_RESP_ERR_NO_ERROR);
	assert_int_equal(rd_kafka_flush(rk, 60000), 0);
	rd_kafka_destroy(rk);
}

static void report_progress(struct clickhouse_server *s, unsigned epoch,
			    unsigned partition, const char *first,
			    const char *last)
{
	clickhouse_server_do(s,
			     "INSERT INTO ingest_progress (epoch, topic, "
			     "partition, partitions, first, last, append_time) "
			     "VALUES (%u, 'links', %u, 2, %s, %s, now64(3))",
			     epoch, partition, first, last);
}

static int64_t missing_events(struct clickhouse_server *s,
			      struct link_events_mark *mark)
{
	struct error err = {0};
	int64_t missing;

	if (link_events_mark_missing(mark, s->ch, &missing, &err) < 0)
		fail_msg("%s", err.text);
	return missing;
}

static void a_mark_is_reached_when_all_before_it_is_stored(void **state)
{
	struct clickhouse_server *s = *state;
	rd_kafka_mock_cluster_t *mock = mock_kafka_start("other");
	struct mock_kafka_config kafka;
	struct link_events_mark *mark;
	struct error err = {0};

	rd_kafka_mock_topic_create(mock, "links", 2, 1);
	mock_kafka_configure(mock, &kafka);
	kafka.config.topic_links = drop_const("links");
	produce_events(mock, "links", 0, 10);
	produce_events(mock, "links", 1, 4);
	mark = link_events_mark_new(&kafka.config, &err);
	if (!mark)
		fail_msg("%s", err.text);
	produce_events(mock, "links", 1, 5); /* later than the mark */
	assert_int_equal(missing_events(s, mark), 14);
	/* A report at the start of the log. */
	report_progress(s, 0, 0, "0", "18446744073709551615");
	assert_int_equal(missing_events(s, mark), 14);
	report_progress(s, 0, 0, "0", "6");
	report_progress(s, 0, 1, "0", "8");
	assert_int_equal(missing_events(s, mark), 3);
	report_progress(s, 0, 0, "7", "9");
	assert_int_equal(missing_events(s, mark), 0);
	/* The log was made anew. */
	report_progress(s, 1, 0, "0", "3");
	assert_int_equal(missing_events(s, mark), 6);
	link_events_mark_free(mark);
	mock_kafka_stop(mock);
}

static void a_topic_that_is_not_there_is_an_error(void **state)
{
	rd_kafka_mock_cluster_t *mock = mock_kafka_start("other");
	struct mock_kafka_config kafka;
	struct error err = {0};
	int64_t *ends = NULL;
	size_t count = 0;

	(void)state;
	mock_kafka_configure(mock, &kafka);
	assert_int_equal(kafka_log_ends(&kafka.config, "test", "other", 60000,
					&ends, &count, &err),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(ends[0], 0);
	free(ends);
	rd_kafka_mock_topic_set_error(mock, "links",
				      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	assert_int_equal(kafka_log_ends(&kafka.config, "test", "links", 60000,
					&ends, &count, &err),
			 -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	mock_kafka_stop(mock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pages_are_walked_in_the_order_of_codes),
		cmocka_unit_test(the_newest_version_decides),
		cmocka_unit_test(an_error_ends_the_walk),
		cmocka_unit_test(
			a_mark_is_reached_when_all_before_it_is_stored),
		cmocka_unit_test(a_topic_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, start_engine, stop_engine);
}
