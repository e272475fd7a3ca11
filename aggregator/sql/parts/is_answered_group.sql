WHERE (d, toValidUTF8(v)) IN (
    SELECT arrayJoin(arrayZip({indexes:Array(UInt8)}, {values:Array(String)})))
