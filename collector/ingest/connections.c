#include "collector/ingest/connections.h"

#include "common/clock.h"

void connections_init(struct connections *c, struct health *health,
		      struct log *log)
{
	*c = (struct connections){
		.log = log,
		.kafka = health_register(health, "kafka"),
		.clickhouse = health_register(health, "clickhouse"),
	};
}

void connections_kafka(struct connections *c, bool up, const char *reason)
{
	atomic_store(&c->kafka_up, up);
	if (up && health_up(c->kafka))
		log_info(c->log, "Kafka connected");
	else if (!up && health_down(c->kafka, reason))
		log_warn(c->log, "Kafka disconnected",
			 log_str("error", reason));
}

void connections_kafka_rejected(struct connections *c, const char *reason)
{
	c->kafka_rejects = true;
	if (health_down(c->kafka, reason))
		log_warn(c->log, "Kafka rejects", log_str("error", reason));
}

void connections_kafka_accepted(struct connections *c)
{
	if (!c->kafka_rejects || !atomic_load(&c->kafka_up))
		return;
	c->kafka_rejects = false;
	if (health_up(c->kafka))
		log_info(c->log, "Kafka accepts again");
}

bool connections_kafka_up(struct connections *c)
{
	return atomic_load(&c->kafka_up);
}

void connections_clickhouse_up(struct connections *c)
{
	c->clickhouse_answered_at = clock_monotonic_ms();
	if (!health_up(c->clickhouse))
		return;
	log_info(c->log, "ClickHouse connected");
	c->clickhouse_is_new = true;
}

void connections_clickhouse_down(struct connections *c, const struct error *err)
{
	if (!health_down(c->clickhouse, err->text))
		return;
	if (err->code == ERROR_UNSAFE)
		log_error(c->log, "nothing is inserted into this ClickHouse",
			  log_err(err));
	else
		log_warn(c->log, "ClickHouse disconnected", log_err(err));
}

bool connections_clickhouse_is_new(struct connections *c)
{
	bool is_new = c->clickhouse_is_new;

	c->clickhouse_is_new = false;
	return is_new;
}
