#include "aggregator/api/pipeline/steps_json.h"

json_t *steps_json(const int64_t steps[LOST_STEPS])
{
	json_t *object = json_object();

	for (enum reconciled_step i = 0; object && i < LOST_STEPS; i++)
		json_object_set_new(object, reconciled_step_names[i],
				    json_integer(steps[i]));
	return object;
}
