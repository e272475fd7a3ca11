-- @ids@: 1, 2
code IN (SELECT code FROM links WHERE link_id IN (@ids@))
  AND link_id IN (@ids@)
