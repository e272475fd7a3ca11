-- Months of settled days are read by many questions and written once a day.  One that has
-- got nothing new for a day and a half is merged into one part: each part that a question
-- reads costs it half a millisecond and more, and a merge that is not forced leaves some.
ALTER TABLE sealed_slots
    MODIFY SETTING min_age_to_force_merge_seconds = 129600,
                   min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE owner_slots
    MODIFY SETTING min_age_to_force_merge_seconds = 129600,
                   min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE owner_values
    MODIFY SETTING min_age_to_force_merge_seconds = 129600,
                   min_age_to_force_merge_on_partition_only = 1;
