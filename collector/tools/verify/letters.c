#include "collector/tools/verify/letters.h"

#include <stdlib.h>
#include <string.h>

#include "collector/tools/dlq/dlq_record.h"

#define PAUSE_EVERY 4096 /* records */

struct reading {
	struct letters *letters;
	const char *topic;
	letters_pause_fn *pause;
	void *arg;
};

const struct offset_set *letters_of(const struct letters *l, uint32_t partition)
{
	static const struct offset_set none;

	return partition < l->partitions ? &l->sets[partition] : &none;
}

void letters_free(struct letters *l)
{
	for (uint32_t i = 0; i < l->partitions; i++)
		offset_set_free(&l->sets[i]);
	free(l->sets);
	*l = (struct letters){0};
}

static int take(void *arg, const struct dlq_record *letter, struct error *err)
{
	struct reading *r = arg;
	struct letters *l = r->letters;

	if (++l->read % PAUSE_EVERY == 0 && r->pause(r->arg))
		return error_set_retriable(err, ERROR_BUSY, "interrupted");
	if (letter->kind != DLQ_LETTER ||
	    strcmp(letter->topic, r->topic) != 0 ||
	    (uint32_t)letter->partition >= l->partitions)
		return 0;
	return offset_set_add(&l->sets[letter->partition], letter->offset,
			      err) < 0
		       ? -1
		       : 0;
}

int letters_read(struct letters *l, struct kafka_reader *reader,
		 const char *dlq, const char *topic, uint32_t partitions,
		 int64_t since_ms, letters_pause_fn *pause, void *arg,
		 struct error *err)
{
	struct reading reading = {l, topic, pause, arg};
	struct error why;

	l->sets = calloc(partitions + 1, sizeof(*l->sets));
	if (!l->sets)
		return error_set_nomem(err);
	l->partitions = partitions;
	if (dlq_records_walk(reader, dlq, since_ms, take, &reading, &why) == 0 ||
	    why.code == ERROR_NOTFOUND)
		return 0;
	*err = why;
	return error_wrap(err, "dead letters");
}
