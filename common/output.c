#include "common/output.h"

#include <stdio.h>

int output_table(struct table *t, struct error *err)
{
	int status = table_print(t, stdout);

	table_free(t);
	return status < 0 ? error_set_nomem(err) : 0;
}

int output_json(json_t *root, struct error *err)
{
	int status =
		root ? json_dumpf(root, stdout, JSON_REAL_PRECISION(12)) : -1;

	json_decref(root);
	if (status < 0)
		return error_set_nomem(err);
	putchar('\n');
	return 0;
}
