-- @columns@: state = 'forgotten', url = '', targets = CAST(map(), 'Map(LowCardinality(String), String)')
-- @is_link@: link_id IN (1, 2)
ALTER TABLE links
UPDATE @columns@
WHERE @is_link@ AND state != 'forgotten'
