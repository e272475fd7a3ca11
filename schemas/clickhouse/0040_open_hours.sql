-- An hour that is not over is settled by what arrived: its last attempt and the rows beyond
-- it.  A value that came into the busiest ones only then lacks what was counted with the
-- rest before.  Such an attempt is provisional, and the hour is settled once more from all
-- of its rows when it is over.
ALTER TABLE settled
    ADD COLUMN IF NOT EXISTS provisional Bool DEFAULT false AFTER rows;
