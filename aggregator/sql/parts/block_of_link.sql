toUInt64(one_id - bitAnd(one_id, 4398046511103)
    % transform(bitShiftRight(one_id, 57), {space_numbers:Array(UInt64)},
        {block_sizes:Array(UInt64)}, toUInt64(1)))
