-- @codes_of@: SELECT code FROM links
-- The newest link of each code is the present one: generations are the upper bits of a
-- link_id.
INNER JOIN (
    SELECT code AS present_code, max(link_id) AS present_id
    FROM links
    WHERE code IN (@codes_of@)
    GROUP BY code
    SETTINGS merge_tree_min_rows_for_concurrent_read = 1024,
        merge_tree_min_bytes_for_concurrent_read = 65536) AS present
  ON newest.code = present.present_code
