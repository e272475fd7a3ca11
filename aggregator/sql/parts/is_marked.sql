maybe_sent AND outcome != 'repeated'
