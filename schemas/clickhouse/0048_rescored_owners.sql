-- Whose links' clicks were judged again: '' is everybody's.  A run over one owner's does not
-- finish one over everybody's.  The collector writes this column, so it is upgraded after
-- this was applied; one of before judges everybody's, as the default says.
ALTER TABLE rescored
    ADD COLUMN IF NOT EXISTS owner String AFTER host;
