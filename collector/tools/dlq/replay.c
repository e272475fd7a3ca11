/* replay.c - sends letters to the topics that they came from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/tools/dlq/dlq.h"
#include "common/kafka/producer.h"
#include "common/kafka/transaction.h"
#include "common/output.h"

enum {
	REPLAYS_MAX = 3, /* of one event, so that it does not go round */
	AT_ONCE = 500,	 /* in one transaction */
};

struct replay {
	struct dlq *dlq;
	struct kafka_transaction *transaction; /* NULL: a dry run */
	uint32_t clicks, links; /* partitions of these topics; 0: none */
	uint64_t open;		/* put, and not committed yet */
	uint64_t chosen, sent, before, too_often, copies, elsewhere;
};

/* How many partitions the letter's topic has, or 0 for one that is none of
 * ours: who can write letters should not write anywhere with our rights. */
static uint32_t partitions_of(const struct replay *r,
			      const struct letter *letter)
{
	const struct kafka_config *kafka = &r->dlq->config->kafka;

	if (!strcmp(letter->topic, kafka->topic_clicks))
		return r->clicks;
	if (!strcmp(letter->topic, kafka->topic_links))
		return r->links;
	return 0;
}

static int put_event(struct replay *r, const struct letter *letter,
		     const char *replays, struct error *err)
{
	const struct kafka_header headers[] = {{LETTER_REPLAYS, replays}};
	uint32_t partitions = partitions_of(r, letter);
	struct kafka_message event = {
		.topic = letter->topic,
		/* Events of one link stay in one partition. */
		.partition = (uint32_t)letter->partition < partitions
				     ? letter->partition
				     : -1,
		.key = letter->key,
		.key_len = letter->key ? strlen(letter->key) : 0,
		.payload = letter->payload,
		.len = letter->len,
		.headers = headers,
		.header_count = 1,
	};

	return kafka_transaction_put(r->transaction, &event, err);
}

static int put_mark(struct replay *r, const struct letter *letter,
		    const char *replays, struct error *err)
{
	char partition[16], offset[24], replayed[24];
	const struct kafka_header headers[] = {
		{"topic", letter->topic},    {"partition", partition},
		{"offset", offset},	     {LETTER_REPLAYS, replays},
		{LETTER_REPLAYED, replayed},
	};
	struct kafka_message mark = {
		.topic = r->dlq->config->kafka.topic_dlq,
		/* Behind the letter, so that it lives longer. */
		.partition = letter->at_partition,
		.headers = headers,
		.header_count = sizeof(headers) / sizeof(*headers),
	};

	snprintf(partition, sizeof(partition), "%" PRId32, letter->partition);
	snprintf(offset, sizeof(offset), "%" PRIu64, letter->offset);
	snprintf(replayed, sizeof(replayed), "%" PRId64, letter->at_offset);
	return kafka_transaction_put(r->transaction, &mark, err);
}

static int commit(struct replay *r, struct error *err)
{
	if (!r->open)
		return 0;
	if (kafka_transaction_commit(r->transaction, err) < 0)
		return error_wrap(err,
				  "%" PRIu64 " letters were sent, of the next "
				  "%" PRIu64 " %s",
				  r->sent, r->open,
				  err->retriable ? "it is not known" : "none");
	r->sent += r->open;
	r->open = 0;
	return 0;
}

static int send_again(struct replay *r, const struct letter *letter,
		      struct error *err)
{
	char replays[24];

	if (!r->transaction) {
		r->sent++;
		return 0;
	}
	snprintf(replays, sizeof(replays), "%" PRIu64, letter->replays + 1);
	if (!r->open && kafka_transaction_begin(r->transaction, err) < 0)
		return -1;
	r->open++;
	if (put_event(r, letter, replays, err) < 0 ||
	    put_mark(r, letter, replays, err) < 0)
		return error_wrap(err,
				  "letter %" PRId32 ":%" PRId64 " (%" PRIu64
				  " were sent before it)",
				  letter->at_partition, letter->at_offset,
				  r->sent);
	return r->open >= AT_ONCE ? commit(r, err) : 0;
}

static int take(void *arg, const struct letter *letter, struct error *err)
{
	struct replay *r = arg;
	struct dlq *d = r->dlq;
	int added;

	if (dlq_step(d, err) < 0)
		return -1;
	if (!choice_takes(&d->choice, letter))
		return 0;
	r->chosen++;
	added = positions_add(&d->seen, letter->topic, letter->partition,
			      letter->offset, err);
	if (added < 0)
		return -1;
	if (!added)
		r->copies++;
	else if (!partitions_of(r, letter))
		r->elsewhere++;
	else if (!d->force && positions_have(&d->replayed, letter->topic,
					     letter->partition, letter->offset))
		r->before++;
	else if (!d->force && letter->replays >= REPLAYS_MAX)
		r->too_often++;
	else
		return send_again(r, letter, err);
	return 0;
}

/* --- the command ---------------------------------------------------------- */

static int print(const struct replay *r, struct error *err)
{
	if (r->dlq->json)
		return output_json(
			json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I}",
				  "dry_run", (int)r->dlq->dry_run, "chosen",
				  (json_int_t)r->chosen, "sent",
				  (json_int_t)r->sent, "sent_before",
				  (json_int_t)r->before, "too_often",
				  (json_int_t)r->too_often, "copies",
				  (json_int_t)r->copies, "elsewhere",
				  (json_int_t)r->elsewhere),
			err);
	printf("%" PRIu64 " letters %s.\n", r->sent,
	       r->dlq->dry_run ? "would be sent again" : "were sent again");
	if (r->before)
		printf("%" PRIu64 " were not: they had been sent again before "
		       "(--force).\n",
		       r->before);
	if (r->too_often)
		printf("%" PRIu64 " were not: they had come back %d times "
		       "(--force).\n",
		       r->too_often, REPLAYS_MAX);
	if (r->elsewhere)
		printf("%" PRIu64 " were not: they are of other topics.\n",
		       r->elsewhere);
	if (r->copies)
		printf("%" PRIu64 " were copies of others.\n", r->copies);
	return 0;
}

/* A topic that is not there takes no letters. */
static int ask_partitions(struct kafka_reader *reader, const char *topic,
			  uint32_t *ret_count, struct error *err)
{
	struct error why;

	*ret_count = 0;
	if (kafka_reader_partitions(reader, topic, ret_count, &why) == 0 ||
	    why.code == ERROR_NOTFOUND)
		return 0;
	*err = why;
	return -1;
}

static int open_transaction(struct replay *r, struct error *err)
{
	const struct kafka_config *kafka = &r->dlq->config->kafka;
	char id[300];

	if (r->dlq->dry_run)
		return 0;
	snprintf(id, sizeof(id), "shortloop-replay-%.249s", kafka->topic_dlq);
	r->transaction = kafka_transaction_new(kafka, id, err);
	return r->transaction ? 0 : -1;
}

static int run(struct replay *r, struct error *err)
{
	struct dlq *d = r->dlq;
	const struct kafka_config *kafka = &d->config->kafka;

	if (ask_partitions(d->reader, kafka->topic_clicks, &r->clicks, err) <
		    0 ||
	    ask_partitions(d->reader, kafka->topic_links, &r->links, err) < 0)
		return -1;
	/* Whoever replays at the same time is stopped before the marks are
	 * read: all that it has sent has a mark by then. */
	if (open_transaction(r, err) < 0 || dlq_read_marks(d, err) < 0 ||
	    letters_walk(d->reader, kafka->topic_dlq, 0, take, r, err) < 0)
		return -1;
	return commit(r, err);
}

int dlq_replay(struct dlq *d, struct error *err)
{
	struct replay r = {.dlq = d};
	int status = run(&r, err);

	kafka_transaction_free(r.transaction);
	if (status == 0 && !r.chosen && d->choice.range_count)
		return error_set(err, ERROR_NOTFOUND,
				 "there is no such letter in %s",
				 d->config->kafka.topic_dlq);
	if (status == 0)
		status = print(&r, err);
	if (status < 0)
		return -1;
	/* What was asked for by its offset was meant. */
	return r.too_often || r.elsewhere ||
	       (r.before && d->choice.range_count);
}
