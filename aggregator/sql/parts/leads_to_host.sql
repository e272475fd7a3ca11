arrayExists(u -> extract(u, '^https?://(?:[^/?#]*\\x40)?(\\[[0-9a-f:.]+\\]|[^/?#:]+)')
    = {url_host:String}, arrayConcat([url], mapValues(targets)))
