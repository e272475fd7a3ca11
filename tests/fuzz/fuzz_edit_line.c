/* Any bytes as a line of an edit of many links: it is refused with a reason, or
 * says what is done with which link. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "allocator/batch/edit_line.h"
#include "tests/unit/allocator/link_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_edit(const struct edit_line *line)
{
	assert(!(line->patches && line->deletes));
	assert(line->code.data || line->patches || line->deletes);
	assert(line->code.data || !line->if_match.data);
	assert(!line->patches || line->patch.fields.given);
	if (line->code.data)
		assert(strlen(line->code.data) == line->code.len);
	if (line->if_match.data)
		assert(strlen(line->if_match.data) == line->if_match.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_slice text = {(const char *)data, size};
	struct edit_line line;
	struct error err = {0};

	if (edit_line_parse(&line, &link_world_lasting()->defaults.rules, text,
			    &err) < 0)
		assert(err.code == ERROR_INPUT && err.text[0]);
	else
		check_edit(&line);
	edit_line_release(&line);
	return 0;
}
