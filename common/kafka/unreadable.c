#include "common/kafka/unreadable.h"

#include <stdio.h>

bool kafka_is_unreadable(const rd_kafka_message_t *m)
{
	if (!m->rkt || m->offset < 0)
		return false;
	return m->err == RD_KAFKA_RESP_ERR__BAD_COMPRESSION ||
	       m->err == RD_KAFKA_RESP_ERR__BAD_MSG ||
	       m->err == RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED;
}

void kafka_unreadable_fill(struct kafka_unreadable *u,
			   const rd_kafka_message_t *m)
{
	u->first = u->last = m->offset;
	u->may_heal = m->err != RD_KAFKA_RESP_ERR__BAD_COMPRESSION;
	snprintf(u->reason, sizeof(u->reason), "%s",
		 rd_kafka_message_errstr(m));
}
