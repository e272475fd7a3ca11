-- @has_visitor@: arrayExists(x -> x = 1, arrayConcat(people, others))
-- @is_link@: link_id IN (1, 2)
@has_visitor@
  OR (@is_link@
    AND (arrayExists(x -> x !=
            -- include: aggregator/sql/parts/digest_of_nobody.sql
            , arrayConcat(people, others))
      OR arrayExists(x -> x !=
            -- include: aggregator/sql/parts/digest_of_nowhere.sql
            , arrayConcat(people_ips, others_ips))))
