#include "collector/side/side_batch.h"

enum {
	LETTERS_MS = 1000, /* limit of the wait until dead letters are stored */
};

void side_batch_release(struct side_batch *b)
{
	buf_free(&b->rows);
}

static int put_letter(struct side_batch *b, const struct kafka_record *record,
		      const struct error *reason, struct error *err)
{
	if (dead_letters_put(b->dead_letters, record, reason->text,
			     &b->letters_given_up, err) < 0)
		return -1;
	log_warn(b->log, "record rejected: it goes to the dead letters",
		 log_str("topic", record->topic),
		 log_int("partition", record->partition),
		 log_int("offset", record->offset), log_err(reason));
	metric_add(b->dead_lettered, 1);
	b->letters++;
	return 0;
}

int side_batch_add(struct side_batch *b, const struct kafka_record *record,
		   struct error *err)
{
	struct error reason = {0};

	if (b->kind->append(&b->rows, &b->row_count, record->payload,
			    record->len, &reason) == 0)
		return 0;
	if (reason.code == ERROR_INPUT)
		return put_letter(b, record, &reason, err);
	*err = reason;
	return -1;
}

int side_batch_store(struct side_batch *b, struct error *err)
{
	static const struct clickhouse_param params[] = {{"async_insert", "0"},
							 {NULL, NULL}};

	if (b->row_count &&
	    clickhouse_insert(b->ch, b->kind->insert, params, b->rows.data,
			      b->rows.len, err) < 0)
		return error_wrap(err, "%s", b->kind->what);
	if (b->letters &&
	    dead_letters_flush(b->dead_letters, LETTERS_MS, err) < 0)
		return -1;
	return 0;
}

void side_batch_clear(struct side_batch *b)
{
	buf_reset(&b->rows);
	b->row_count = b->letters = 0;
}
