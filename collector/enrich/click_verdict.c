#include "collector/enrich/click_verdict.h"

struct verdict verdict_of_click(const Shortloop__Click *click,
				struct verdict by_user_agent)
{
	return verdict_of_request(click->prefetch,
				  click->outcome ==
					  SHORTLOOP__OUTCOME__OUTCOME_HEAD,
				  by_user_agent);
}

struct verdict verdict_of_burst(enum burst burst, struct verdict otherwise)
{
	switch (burst) {
	case BURST_CODES:
		return (struct verdict){VERDICT_SCANNER, "burst of codes"};
	case BURST_NOT_FOUND:
		return (struct verdict){VERDICT_SCANNER, "burst of not found"};
	case BURST_NONE:
		break;
	}
	return otherwise;
}
