#include "common/kafka/not_stored.h"

#include <stddef.h>

/* Errors that Kafka's brokers return before they append.
 * NOT_LEADER_FOR_PARTITION and KAFKA_STORAGE_ERROR are not listed, since
 * brokers also return them after an append, while they wait for other replicas.
 * The same holds for UNKNOWN_TOPIC_OR_PART; but librdkafka retries it, and
 * fails a message with that code only if the cluster has no such topic, so
 * nothing is stored then either. */
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

/* For its own errors librdkafka knows whether the message was already sent,
 * with two exceptions: a response that it could not read to its end, and a
 * message that waits for a retry.  If a broker returned
 * NOT_LEADER_FOR_PARTITION, perhaps after its append, that is forgotten when
 * the retry times out or is purged. */
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
