arraySort(groupUniqArrayIf(
    -- include: aggregator/sql/parts/digest_of_owners_visitor.sql
    ,
    -- include: aggregator/sql/parts/is_human.sql
)) AS s0,
arraySort(groupUniqArrayIf(
    -- include: aggregator/sql/parts/digest_of_owners_visitor.sql
    ,
    -- include: aggregator/sql/parts/is_not_human.sql
)) AS s1,
arraySort(groupUniqArrayIf(
    -- include: aggregator/sql/parts/digest_of_owners_address.sql
    ,
    -- include: aggregator/sql/parts/is_human.sql
)) AS s2,
arraySort(groupUniqArrayIf(
    -- include: aggregator/sql/parts/digest_of_owners_address.sql
    ,
    -- include: aggregator/sql/parts/is_not_human.sql
)) AS s3
