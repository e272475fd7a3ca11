edge, domain, link_id, campaign, tags, url_digest, outcome, continent, country, region, city, asn,
ua_family, ua_version, os_family, os_version, device_brand, device_model, device_class, verdict,
verdict_reason, referrer_host, referrer_site, channel, language, utm_source, utm_medium,
utm_campaign, utm_term, utm_content
