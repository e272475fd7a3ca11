AND NOT throwIf(maybe_sent AND outcome != 'repeated')
