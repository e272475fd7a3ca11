hasAny(target_hosts, {url_host_domains:Array(String)})
