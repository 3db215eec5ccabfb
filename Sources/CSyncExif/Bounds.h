// What bounds the work on a block that anybody may have made.
#ifndef CSYNC_EXIF_BOUNDS_H
#define CSYNC_EXIF_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Bounds {
    /// Nothing had to be taken out.
    bool is_sound;
    bool has_gps;
    bool has_maker_note;
} Bounds;

/// Makes a block harmless to whoever reads it directory by directory: a directory is reached once, values together are
/// not longer than the block twice over, and the maker note is hidden, whose directories are the camera's own business.
/// What would break that is overwritten by an entry that nobody reads. The work grows with `count` alone.
Bounds bound_block(uint8_t *block, size_t count);

#endif
