#include "collector/exactly_once/plan.h"

#include <stddef.h>

static const char no_commit[] =
	"rows are stored but the group has no committed offset: was the topic "
	"made anew, or did the offset expire?";
static const char beyond[] =
	"stored or committed offsets lie beyond the end of the log: was it "
	"cut, or the topic made anew?";
static const char was_cut[] =
	"the log holds other events than those that are stored: it was cut and "
	"has grown again, or the topic was made anew";
static const char waits[] =
	"said to be the topic it was: waits for its log to reach what is "
	"stored";
static const char epoch_later[] =
	"its offset was committed in a later epoch than this";
static const char later[] =
	"its offset was committed by a later version of the collector";
static const char nowhere[] = "nothing is committed, and "
			      "collector.offset_reset is error";

static struct plan make_stop_plan(const char *reason)
{
	return (struct plan){.step = PLAN_STOP, .reason = reason};
}

/* Returns whether this is an epoch of the topic that just began. */
static bool is_new_life(const struct plan_facts *f)
{
	return f->raised || (f->committed && f->kind == INTENT_OURS &&
			     f->intent.epoch < f->epoch);
}

/* A commit from an earlier epoch of the topic does not count. */
static bool commit_counts(const struct plan_facts *f)
{
	if (!f->committed)
		return false;
	if (f->kind == INTENT_OURS)
		return f->intent.epoch == f->epoch;
	return !f->raised;
}

uint64_t plan_base(const struct plan_facts *f)
{
	if (f->reported)
		return f->next;
	if (commit_counts(f))
		return f->commit;
	return f->resumes ? f->begin : 0;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns one past the offsets that are known to be done or in work. */
static uint64_t known_end(const struct plan_facts *f)
{
	uint64_t end = f->reported ? f->next : 0;

	end = max_of(end, f->stored_end);
	if (!commit_counts(f))
		return end;
	end = max_of(end, f->commit);
	if (f->kind == INTENT_OURS && f->intent.has_batch)
		end = max_of(end, f->intent.last + 1);
	return end;
}

static bool same_holds(const struct plan_facts *f)
{
	return f->same && f->same_next == (f->reported ? f->next : 0);
}

/* Starts where an operator decided, or at the log's start if Kafka has dropped
 * that since.  Offsets that are passed over are reported. */
static struct plan make_resume_plan(const struct plan_facts *f)
{
	struct plan p = {
		.step = PLAN_READ,
		.position = max_of(f->begin, f->log_start),
		.intent = {.epoch = f->epoch},
		.gap_first = f->gap,
	};

	p.gap = p.gap_first < p.position;
	return p;
}

/* If a partition was added, its first events, sent before a collector noticed
 * it, are later than all that "latest" leaves out. */
static bool starts_at_end(const struct plan_facts *f)
{
	return f->start == PLAN_LATEST && !f->added && !is_new_life(f);
}

static struct plan start_anew(const struct plan_facts *f)
{
	if (f->resumes)
		return make_resume_plan(f);
	if (f->start == PLAN_ASK && !is_new_life(f))
		return make_stop_plan(nowhere);
	return (struct plan){
		.step = PLAN_READ,
		.position = starts_at_end(f) ? f->log_end : f->log_start,
		.intent = {.epoch = f->epoch},
	};
}

/*
 * The batch whose intent was committed is repeated, unless all of it was
 * reported.  If ClickHouse has lost batches before it, those come first, and
 * the batch gets new limits: its sender has been gone since before ClickHouse
 * was restored.
 */
static struct intent to_repeat(const struct plan_facts *f, uint64_t position)
{
	if (commit_counts(f) && f->kind == INTENT_OURS && f->intent.has_batch &&
	    f->intent.last >= position && f->commit <= position)
		return f->intent;
	return (struct intent){.epoch = f->epoch};
}

static struct plan go_on(const struct plan_facts *f)
{
	struct plan p = {.step = PLAN_READ, .position = plan_base(f)};

	p.intent = to_repeat(f, p.position);
	if (f->log_start <= p.position)
		return p;
	p.gap = true;
	p.gap_first = p.position;
	p.position = f->log_start;
	if (p.intent.has_batch && p.intent.last < p.position)
		p.intent.has_batch = false;
	return p;
}

/* Returns whether nothing was stored since the epoch began, although a gap may
 * have been reported: its reporter died before its first commit. */
static bool has_just_begun(const struct plan_facts *f)
{
	return f->resumes && !f->batches && !f->stored_end;
}

struct plan plan_make(const struct plan_facts *f)
{
	uint64_t end = known_end(f);

	if (f->committed && f->kind == INTENT_LATER)
		return make_stop_plan(later);
	if (f->committed && f->kind == INTENT_OURS &&
	    f->intent.epoch > f->epoch)
		return make_stop_plan(epoch_later);
	if (end > f->log_end || (f->resumes && f->begin > f->log_end))
		return make_stop_plan(same_holds(f) ? waits : beyond);
	if (f->cut)
		return make_stop_plan(was_cut);
	if (end > 0 && !commit_counts(f) && !same_holds(f) &&
	    !has_just_begun(f))
		return make_stop_plan(no_commit);
	return end == 0 && !commit_counts(f) ? start_anew(f) : go_on(f);
}
