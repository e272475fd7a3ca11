/*
 * steps_json.h - the figures of the steps between what was answered and what is
 * settled, as JSON.
 */
#ifndef AGGREGATOR_API_PIPELINE_STEPS_JSON_H
#define AGGREGATOR_API_PIPELINE_STEPS_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "aggregator/reconcile/reconcile.h"

/* Returns an object with the members reconciled_step_names; NULL: out of
 * memory. */
json_t *steps_json(const int64_t steps[LOST_STEPS]);

#endif
