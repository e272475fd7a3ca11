topic != 'rescore' AND NOT startsWith(topic, 'import:')
