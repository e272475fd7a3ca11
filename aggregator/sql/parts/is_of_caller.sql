({any_account:Bool} OR account IN ({caller_account:String}, '\x01unknown'))
AND ({every_owner:Bool}
    OR has(arrayPushBack(splitByChar('\n', {caller_owners:String}), '\x01unknown'),
        toString(owner)))
