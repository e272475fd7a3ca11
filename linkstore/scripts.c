#include "linkstore/scripts.h"

void link_scripts_init(struct redis_script scripts[SCRIPT_COUNT_OF])
{
	static const char *const texts[SCRIPT_COUNT_OF] = {
#include "linkstore/scripts/texts.inc"
	};

	for (int i = 0; i < SCRIPT_COUNT_OF; i++)
		redis_script_init(&scripts[i], texts[i]);
}
