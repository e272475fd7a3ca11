({any_account:Bool} OR account = {caller_account:String})
AND ({every_owner:Bool}
    OR has(splitByChar('\n', {caller_owners:String}), toString(owner)))
