link_id != 0 AND has(splitByChar('\n', {bound_owners:String}), toString(owner))
