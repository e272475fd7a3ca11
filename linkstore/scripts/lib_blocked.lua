-- A field of blocked:{account}: a URL, then a line of each decision about it,
-- "link_id ms code key".  A link_id of 0 is of the URL alone, whatever link
-- leads there.
local function decisions(text)
  local list = {}
  for line, id in string.gmatch(text or '', '\n((%d+) [^\n]*)') do
    list[#list + 1] = {line, id}
  end
  return list
end
