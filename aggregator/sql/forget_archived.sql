-- @is_link@: link_id IN (1, 2)
ALTER TABLE links
UPDATE state = 'forgotten', url = '', owner = '', campaign = '',
    tags = CAST([], 'Array(LowCardinality(String))'), domain = '', description = '',
    account = '', creator = '', editor = '',
    targets = CAST(map(), 'Map(LowCardinality(String), String)')
WHERE @is_link@ AND state != 'forgotten'
