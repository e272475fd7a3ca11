#include "collector/tools/verify/verify.h"

int verify_step(struct verify *v, uint64_t offsets, struct error *err)
{
	v->done += offsets;
	bar_show(&v->bar, v->done, v->total);
	if (app_should_stop(v->app, 0))
		return error_set_retriable(err, ERROR_STOPPED, "interrupted");
	return 0;
}

int verify_find(struct verify *v, const struct span *span, enum window_set set,
		enum event_finding_kind kind, uint64_t *counter,
		struct error *err)
{
	struct event_finding f = {
		kind, span->where.partition, span->where.epoch, 0, 0, 0};
	uint64_t at = v->window.first;

	while (window_next_run(&v->window, set, &at, &f.first, &f.last)) {
		f.events = f.last - f.first + 1;
		*counter += f.events;
		if (event_findings_note(&v->findings, &f, err) < 0)
			return -1;
	}
	return 0;
}

static int name_twice(struct verify *v, const struct stretch *part,
		      const struct stored_rows_twice *twice, struct error *err)
{
	if (event_findings_have_room(&v->findings))
		return stored_rows_name_twice(&v->ask, part, &v->window, twice,
					      &v->findings, err);
	v->findings.events[FINDING_TWICE] += twice->surplus;
	v->findings.unnamed++;
	return 0;
}

int verify_read_window(struct verify *v, struct span *span,
		       const struct stretch *part, struct error *err)
{
	struct stored_rows_twice twice;

	if (stored_rows_read(&v->ask, part, &v->window, &twice, err) < 0)
		return -1;
	window_add_set(&v->window, IN_DEAD_LETTERS,
		       dlq_offsets_of(&v->dead_letters, part->partition));
	span->twice += twice.surplus;
	return twice.surplus ? name_twice(v, part, &twice, err) : 0;
}

int verify_read_again(struct verify *v, const struct span *span, uint64_t first,
		      uint64_t last, struct error *err)
{
	if (!v->again)
		v->again = kafka_reader_new(&v->config->kafka,
					    "shortloop-collector-verify",
					    v->config->collector.group, err);
	if (!v->again)
		return -1;
	return kafka_reader_open(v->again, v->topic,
				 (int32_t)span->where.partition, (int64_t)first,
				 (int64_t)last + 1, err);
}
