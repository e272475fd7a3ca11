INSERT INTO link_days (link_id, account, owner, part, day, attempt, pv, uv, ip, human_uv,
    human_ip, effective, ineffective, bots, prefetches)
