#include "common/kafka/not_stored.h"

#include <stddef.h>

/* What Kafka's brokers answer before they append.  Not among them, since they
 * answer it also while they wait for other replicas to have what they appended:
 * NOT_LEADER_FOR_PARTITION and KAFKA_STORAGE_ERROR.  So they do with
 * UNKNOWN_TOPIC_OR_PART; but librdkafka tries again then, and fails a message
 * with that code only where the cluster has no such topic, so nothing stored
 * either. */
static const rd_kafka_resp_err_t refusals[] = {
	RD_KAFKA_RESP_ERR_INVALID_MSG,
	RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
	RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
	RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
	RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
	RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
	RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
	RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
	RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
	RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
	RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
	RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
	RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE,
	RD_KAFKA_RESP_ERR_INVALID_RECORD,
};

static bool is_refusal(rd_kafka_resp_err_t code)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (code == refusals[i])
			return true;
	return false;
}

/* Of its own errors librdkafka knows whether the message was on its way, but
 * for an answer that it could not read to its end, and for a message that waits
 * to be tried again: of a try that a broker answered NOT_LEADER_FOR_PARTITION,
 * after its append perhaps, nothing is left when it times out or is purged. */
static bool is_known_locally(rd_kafka_resp_err_t code)
{
	switch (code) {
	case RD_KAFKA_RESP_ERR__UNDERFLOW:
	case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
	case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
		return false;
	default:
		return code > RD_KAFKA_RESP_ERR__BEGIN &&
		       code < RD_KAFKA_RESP_ERR__END;
	}
}

bool kafka_certainly_not_stored(rd_kafka_resp_err_t code,
				rd_kafka_msg_status_t status)
{
	return status == RD_KAFKA_MSG_STATUS_NOT_PERSISTED &&
	       (is_known_locally(code) || is_refusal(code));
}
