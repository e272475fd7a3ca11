({every_account:Bool} OR account = {account:String})
AND ({any_account:Bool} OR account = {caller_account:String})
AND ({every_owner:Bool}
    OR owner IN (SELECT arrayJoin(splitByChar('\n', {caller_owners:String}))))
