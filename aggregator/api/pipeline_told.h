/*
 * pipeline_told.h - what /v1/pipeline has of tables that others write: what
 * collectors say of themselves, and what reconciliation last found lost.
 */
#ifndef AGGREGATOR_API_PIPELINE_TOLD_H
#define AGGREGATOR_API_PIPELINE_TOLD_H

#include <jansson.h>

#include "aggregator/api/call.h"
#include "common/error.h"

/* Adds members "collectors", "exactly_once" and "lag". */
int pipeline_add_collectors(struct call *call, json_t *answer,
			    struct error *err);

/* Adds member "loss"; null before anything was reconciled. */
int pipeline_add_loss(struct call *call, json_t *answer, struct error *err);

#endif
