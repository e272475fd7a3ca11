account IN splitByChar('\n', {bound_accounts:String})
AND ({any_owner:Bool} OR owner IN splitByChar('\n', {bound_owners:String}))
