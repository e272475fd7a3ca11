#include "common/kafka/consumer_commit.h"

#include <stdlib.h>
#include <string.h>

#include "common/kafka/consumer_internal.h"

/*
 * How librdkafka 2.0 handles a commit (rdkafka_cgrp.c): it uses the generation
 * and member id of the time it sends the commit, not of the time of the call;
 * while no coordinator is known the commit waits, up to session.timeout.ms, and
 * is sent then.  A partition is never assigned elsewhere before this member's
 * on_revoked has returned, unless the assignment is lost.  So if the caller
 * awaits its answers in on_revoked, and trusts none after a loss, no commit of
 * its own is stored under a generation in which the partition belonged to
 * another member.
 */

/* Errors that make the same commit fail for ever: the group has continued
 * without this member, or does not admit it. */
static bool is_final(rd_kafka_resp_err_t code)
{
	switch (code) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
	case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
	case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
	case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE:
	case RD_KAFKA_RESP_ERR__FATAL:
		return true;
	default:
		return false;
	}
}

static void on_answer(rd_kafka_t *rk, rd_kafka_resp_err_t code,
		      rd_kafka_topic_partition_list_t *list, void *opaque)
{
	struct kafka_consumer *c = rd_kafka_opaque(rk);
	struct error err = {0};

	if (!code && list && list->cnt)
		code = list->elems[0].err;
	if (code) {
		error_set(&err, ERROR_REMOTE, "kafka: commit: %s",
			  rd_kafka_err2str(code));
		err.retriable = !is_final(code);
	} else if (rd_kafka_assignment_lost(rk)) {
		/* An empty group accepts a commit without a generation. */
		error_set(&err, ERROR_LATE, "kafka: commit: partition lost");
	}
	if (c->options.on_committed)
		c->options.on_committed(c->options.arg, opaque,
					err.code ? &err : NULL);
}

int kafka_consumer_commit(struct kafka_consumer *c, const char *topic,
			  int32_t partition, int64_t next, const char *metadata,
			  void *opaque, struct error *err)
{
	size_t len = strlen(metadata);
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_resp_err_t code;

	if (len > KAFKA_METADATA_MAX)
		return error_set(err, ERROR_INPUT,
				 "kafka: metadata of %zu bytes", len);
	if (rd_kafka_assignment_lost(c->rk))
		return error_set(err, ERROR_LATE,
				 "kafka: commit: partition lost");
	list = kafka_one_partition(topic, partition, next);
	if (len) {
		list->elems[0].metadata = strdup(metadata);
		list->elems[0].metadata_size = len;
	}
	if (len && !list->elems[0].metadata) {
		rd_kafka_topic_partition_list_destroy(list);
		return error_set_nomem(err);
	}
	code = rd_kafka_commit_queue(c->rk, list, c->commits, on_answer,
				     opaque);
	rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	return error_set_retriable(
		err, ERROR_REMOTE, "kafka: commit of %s %d at %lld: %s", topic,
		(int)partition, (long long)next, rd_kafka_err2str(code));
}

void kafka_consumer_serve_commits(struct kafka_consumer *c, int timeout_ms)
{
	rd_kafka_queue_poll_callback(c->commits, timeout_ms);
}

void kafka_committed_fill(struct kafka_committed *ret,
			  const rd_kafka_topic_partition_t *p)
{
	size_t len = p->metadata_size;

	ret->offset = p->offset >= 0 ? p->offset : -1;
	ret->metadata_len = 0;
	/* A text that had to be truncated is not ours: ours are short. */
	if (!p->metadata || len > sizeof(ret->metadata))
		return;
	memcpy(ret->metadata, p->metadata, len);
	ret->metadata_len = len;
}

int kafka_consumer_committed(struct kafka_consumer *c, const char *topic,
			     int32_t partition, int timeout_ms,
			     struct kafka_committed *ret, struct error *err)
{
	rd_kafka_topic_partition_list_t *list =
		kafka_one_partition(topic, partition, RD_KAFKA_OFFSET_INVALID);
	rd_kafka_resp_err_t code = rd_kafka_committed(c->rk, list, timeout_ms);

	if (!code)
		code = list->elems[0].err;
	if (!code)
		kafka_committed_fill(ret, &list->elems[0]);
	rd_kafka_topic_partition_list_destroy(list);
	if (!code)
		return 0;
	return error_set_retriable(
		err, ERROR_REMOTE, "kafka: committed offset of %s %d: %s",
		topic, (int)partition, rd_kafka_err2str(code));
}
