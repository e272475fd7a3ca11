-- A field of blocked:{account} is a URL, followed by a line for each decision
-- on it, "link_id ms code key".  A link_id of 0 stands for a decision on the
-- URL alone, whichever links lead there.
local function decisions(text)
  local list = {}
  for line, id in string.gmatch(text or '', '\n((%d+) [^\n]*)') do
    list[#list + 1] = {line, id}
  end
  return list
end
