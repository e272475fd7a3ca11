arrayExists(u -> endsWith(
        concat('.', extract(u, '^https?://(?:[^/?#]*\\x40)?([^/?#:]+)')), {url_host:String}),
    arrayConcat([url], mapValues(targets)))
