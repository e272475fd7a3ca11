link_id != 0
AND has(splitByChar('\n', {bound_accounts:String}), toString(account))
AND ({any_owner:Bool} OR has(splitByChar('\n', {bound_owners:String}), toString(owner)))
