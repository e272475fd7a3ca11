(lowerUTF8(concat(url, '\n', description, '\n', code, '\n', owner, '\n', campaign, '\n',
        arrayStringConcat(tags, '\n'))) LIKE lowerUTF8({q:String})
    OR lowerUTF8(concat(url, '\n', description, '\n', code, '\n', owner, '\n', campaign, '\n',
        arrayStringConcat(tags, '\n'))) LIKE lowerUTF8({q_uri:String}))
