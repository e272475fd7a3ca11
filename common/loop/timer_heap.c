#include "common/loop/timer_heap.h"

#include <stdlib.h>

int timer_heap_reserve(struct timer_heap *heap, size_t cap, struct error *err)
{
	struct loop_timer **slots;
	size_t grown = heap->cap ? heap->cap : 16;

	if (cap <= heap->cap)
		return 0;
	while (grown < cap)
		grown *= 2;
	slots = realloc(heap->slots, grown * sizeof(*slots));
	if (!slots)
		return error_set_nomem(err);
	heap->slots = slots;
	heap->cap = grown;
	return 0;
}

void timer_heap_release(struct timer_heap *heap)
{
	free(heap->slots);
	*heap = (struct timer_heap){0};
}

static void place_timer(struct timer_heap *heap, struct loop_timer *timer,
			size_t i)
{
	heap->slots[i] = timer;
	timer->index = i + 1;
}

static void sift_up(struct timer_heap *heap, size_t i)
{
	struct loop_timer *timer = heap->slots[i];

	while (i > 0 && timer->key < heap->slots[(i - 1) / 2]->key) {
		place_timer(heap, heap->slots[(i - 1) / 2], i);
		i = (i - 1) / 2;
	}
	place_timer(heap, timer, i);
}

static void sift_down(struct timer_heap *heap, size_t i)
{
	struct loop_timer *timer = heap->slots[i];
	size_t child;

	while ((child = 2 * i + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    heap->slots[child + 1]->key < heap->slots[child]->key)
			child++;
		if (timer->key <= heap->slots[child]->key)
			break;
		place_timer(heap, heap->slots[child], i);
		i = child;
	}
	place_timer(heap, timer, i);
}

void timer_heap_set(struct timer_heap *heap, struct loop_timer *timer,
		    int64_t when)
{
	timer->when = when;
	if (timer->index > 0 && when >= timer->key)
		return;
	timer->key = when;
	if (timer->index == 0) {
		if (when == TIMER_UNARMED)
			return;
		place_timer(heap, timer, heap->count++);
	}
	sift_up(heap, timer->index - 1);
}

void timer_heap_remove(struct timer_heap *heap, struct loop_timer *timer)
{
	struct loop_timer *last;
	size_t i = timer->index;

	if (i-- == 0)
		return;
	timer->index = 0;
	last = heap->slots[--heap->count];
	if (last == timer)
		return;
	place_timer(heap, last, i);
	sift_up(heap, i);
	sift_down(heap, last->index - 1);
}

int64_t timer_heap_next(const struct timer_heap *heap)
{
	return heap->count ? heap->slots[0]->key : TIMER_UNARMED;
}

struct loop_timer *timer_heap_pop(struct timer_heap *heap, int64_t now)
{
	struct loop_timer *timer;

	while (timer_heap_next(heap) <= now) {
		timer = heap->slots[0];
		if (timer->when <= now) {
			timer_heap_remove(heap, timer);
			timer->when = TIMER_UNARMED;
			return timer;
		}
		if (timer->when == TIMER_UNARMED) {
			timer_heap_remove(heap, timer);
			continue;
		}
		timer->key = timer->when;
		sift_down(heap, 0);
	}
	return NULL;
}
