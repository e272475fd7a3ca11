-- @is_visitor@: unique_identity IN (toFixedString(unhex('00'), 20))
-- @is_link@: link_id IN (1, 2)
@is_visitor@
  OR (@is_link@
    AND (unique_identity != toFixedString('', 20) OR campaign != '' OR notEmpty(tags)
      OR url_digest != toFixedString('', 16)))
