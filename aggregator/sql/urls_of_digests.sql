SELECT lower(hex(digest)), any(toValidUTF8(target))
FROM (
    SELECT arrayJoin(arrayConcat([url], mapValues(targets))) AS target,
        toFixedString(substring(SHA256(target), 1, 16), 16) AS digest
    FROM links
    WHERE hasAny(url_digests,
        arrayMap(x -> toFixedString(unhex(x), 16), splitByChar('\n', {digests:String}))))
WHERE has(splitByChar('\n', {digests:String}), lower(hex(digest)))
GROUP BY digest
FORMAT TabSeparated
