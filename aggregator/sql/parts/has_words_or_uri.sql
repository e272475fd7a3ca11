(lowerUTF8(concat(url, '\n', description, '\n', code)) LIKE lowerUTF8({q:String})
    OR lowerUTF8(concat(url, '\n', description, '\n', code)) LIKE lowerUTF8({q_uri:String}))
