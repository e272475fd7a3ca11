arrayExists(d -> endsWith(concat('.', d), {url_host:String}), target_hosts)
