// Corrections of an EXIF block in place.
//
// Layout (TIFF 6.0, EXIF 2.32): a header, then directories that point at values and at each other. An entry is 12
// bytes: tag, type, count, and the value or its offset. Two passes: the first edits entries and marks the bytes that
// kept entries need, the second clears what only the removed ones needed and cuts the block where nothing is left.

#include "CSyncExif.h"

#include "Bounds.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAG_WIDTH = 0x0100,
    TAG_HEIGHT = 0x0101,
    TAG_ORIENTATION = 0x0112,
    TAG_THUMBNAIL_OFFSET = 0x0201,
    TAG_THUMBNAIL_LENGTH = 0x0202,
    TAG_STRIP_OFFSETS = 0x0111,
    TAG_STRIP_LENGTHS = 0x0117,
    TAG_EXIF_IFD = 0x8769,
    TAG_GPS_IFD = 0x8825,
    TAG_PIXEL_WIDTH = 0xA002,
    TAG_PIXEL_HEIGHT = 0xA003,
    TAG_INTEROP_IFD = 0xA005,
    TAG_RELATED_WIDTH = 0x1001,
    TAG_RELATED_HEIGHT = 0x1002,
};

enum { HEADER = 8, ENTRY = 12, TYPE_SHORT = 3, TYPE_LONG = 4 };

typedef enum Directory { IMAGE, EXIF, GPS, INTEROP } Directory;

typedef struct Block {
    uint8_t *bytes;
    size_t count;
    bool big_endian;
    /// One for each byte: what a kept entry needs, and what a removed one needed.
    uint8_t *marks;
    const CSyncExif_Changes *changes;
} Block;

enum { KEPT = 1, REMOVED = 2 };

static uint32_t get(const Block *block, size_t at, int size) {
    uint32_t value = 0;
    for (int i = 0; i < size; i++) {
        value |= (uint32_t)block->bytes[at + (size_t)i] << 8 * (block->big_endian ? size - 1 - i : i);
    }
    return value;
}

static void put(Block *block, size_t at, int size, uint32_t value) {
    for (int i = 0; i < size; i++) {
        block->bytes[at + (size_t)i] = (uint8_t)(value >> 8 * (block->big_endian ? size - 1 - i : i));
    }
}

static void mark(Block *block, size_t at, size_t count, uint8_t how) {
    if (at >= block->count) {
        return;
    }
    size_t end = count > block->count - at ? block->count : at + count;
    for (size_t i = at; i < end; i++) {
        block->marks[i] |= how;
    }
}

static size_t value_size(const Block *block, size_t entry) {
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    uint32_t type = get(block, entry + 2, 2);
    uint64_t size = type < sizeof sizes ? (uint64_t)sizes[type] * get(block, entry + 4, 4) : 0;
    return size > block->count ? block->count : (size_t)size;
}

static void mark_value(Block *block, size_t entry, uint8_t how) {
    size_t size = value_size(block, entry);
    if (size > 4) {
        mark(block, get(block, entry + 8, 4), size, how);
    }
}

/// Sets an entry that holds one integer; what else it may hold stays.
static void set_integer(Block *block, size_t entry, int32_t value) {
    uint32_t type = get(block, entry + 2, 2);
    if (get(block, entry + 4, 4) != 1) {
        return;
    }
    if (type == TYPE_LONG) {
        put(block, entry + 8, 4, (uint32_t)value);
    } else if (type == TYPE_SHORT) {
        put(block, entry + 8, 2, (uint32_t)value);
    }
}

/// Entries of the directory at an offset, or -1 when it does not lie in the block.
static int entries_at(const Block *block, size_t at) {
    if (at < HEADER || at + 2 > block->count) {
        return -1;
    }
    uint32_t count = get(block, at, 2);
    return at + 2 + (size_t)count * ENTRY + 4 > block->count ? -1 : (int)count;
}

static void edit_entry(Block *block, Directory directory, size_t entry, uint32_t tag) {
    const CSyncExif_Changes *changes = block->changes;
    switch (directory) {
    case IMAGE:
        if (tag == TAG_ORIENTATION) {
            set_integer(block, entry, 1);
        } else if (tag == TAG_WIDTH || tag == TAG_HEIGHT) {
            set_integer(block, entry, tag == TAG_WIDTH ? changes->width : changes->height);
        }
        return;
    case EXIF:
        if (tag == TAG_PIXEL_WIDTH || tag == TAG_PIXEL_HEIGHT) {
            set_integer(block, entry, tag == TAG_PIXEL_WIDTH ? changes->width : changes->height);
        }
        return;
    case INTEROP:
        if (tag == TAG_RELATED_WIDTH || tag == TAG_RELATED_HEIGHT) {
            set_integer(block, entry, tag == TAG_RELATED_WIDTH ? changes->width : changes->height);
        }
        return;
    default:
        return;
    }
}

static Directory directory_of(uint32_t tag) {
    return tag == TAG_EXIF_IFD ? EXIF : tag == TAG_GPS_IFD ? GPS : INTEROP;
}

static void mark_thumbnail(Block *block, size_t directory, int entries) {
    uint32_t at = 0, size = 0;
    for (int i = 0; i < entries; i++) {
        size_t entry = directory + 2 + (size_t)i * ENTRY;
        uint32_t tag = get(block, entry, 2);
        uint32_t value = get(block, entry + 8, get(block, entry + 2, 2) == TYPE_SHORT ? 2 : 4);
        if (tag == TAG_THUMBNAIL_OFFSET || tag == TAG_STRIP_OFFSETS) {
            at = value;
        } else if (tag == TAG_THUMBNAIL_LENGTH || tag == TAG_STRIP_LENGTHS) {
            size = value;
        }
    }
    mark(block, at, size, REMOVED);
}

/// Marks the thumbnail's directory, which goes, with its values.
static void mark_removed(Block *block, size_t at) {
    int entries = entries_at(block, at);
    if (entries < 0) {
        return;
    }
    mark(block, at, 2 + (size_t)entries * ENTRY + 4, REMOVED);
    for (int i = 0; i < entries; i++) {
        mark_value(block, at + 2 + (size_t)i * ENTRY, REMOVED);
    }
    mark_thumbnail(block, at, entries);
}

/// Edits a directory that stays, and those below it. Returns false when it is damaged.
static bool edit_directory(Block *block, size_t at, Directory directory) {
    int entries = entries_at(block, at);
    if (entries < 0) {
        return false;
    }
    for (int i = 0; i < entries; i++) {
        size_t entry = at + 2 + (size_t)i * ENTRY;
        uint32_t tag = get(block, entry, 2);
        mark_value(block, entry, KEPT);
        edit_entry(block, directory, entry, tag);
        bool points = (directory == IMAGE && (tag == TAG_EXIF_IFD || tag == TAG_GPS_IFD))
            || (directory == EXIF && tag == TAG_INTEROP_IFD);
        // Each directory is reached once: a sound block does not point in circles.
        if (points && !edit_directory(block, get(block, entry + 8, 4), directory_of(tag))) {
            return false;
        }
    }
    size_t link = at + 2 + (size_t)entries * ENTRY;
    if (directory == IMAGE && get(block, link, 4) != 0) {
        mark_removed(block, get(block, link, 4));
        put(block, link, 4, 0);
    }
    mark(block, at, link + 4 - at, KEPT);
    return true;
}

/// Clears what only removed entries needed. Returns the length without the zeros at the end.
///
/// Cameras pad with many KiB. Some of the zeros stay when no entry needed them, for offsets inside of maker notes are
/// not followed, and Nikon's point at a few that lie behind all else.
static size_t clear(Block *block) {
    enum { MARGIN = 256 };
    size_t uncleared = 0, used = 0;
    for (size_t i = 0; i < block->count; i++) {
        if (block->marks[i] == REMOVED) {
            block->bytes[i] = 0;
            continue;
        }
        uncleared = i + 1;
        if ((block->marks[i] & KEPT) != 0 || block->bytes[i] != 0) {
            used = i + 1;
        }
    }
    return uncleared < used + MARGIN ? uncleared : used + MARGIN;
}

/// Whether the work on the block is bounded. It is asked about a copy, since asking takes out what is not.
static bool is_sound(const uint8_t *bytes, size_t count) {
    uint8_t *copy = malloc(count);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, bytes, count);
    bool result = bound_block(copy, count).is_sound;
    free(copy);
    return result;
}

/// Whether libexif agrees with what was written. A block with two directories at one place, say, does not pass.
static bool is_corrected(const Block *block, size_t count) {
    return CSyncExif_read(block->bytes, count).orientation <= 1;
}

size_t CSyncExif_correct(uint8_t *bytes, size_t count, const CSyncExif_Changes *changes) {
    if (count < HEADER + 2 || count > 65527) {
        return 0;
    }
    bool big_endian = memcmp(bytes, "MM\0*", 4) == 0;
    if (!big_endian && memcmp(bytes, "II*\0", 4) != 0) {
        return 0;
    }
    if (!is_sound(bytes, count)) {
        return 0;
    }
    Block block = {.bytes = bytes, .count = count, .big_endian = big_endian, .changes = changes};
    block.marks = calloc(count, 1);
    if (block.marks == NULL) {
        return 0;
    }
    mark(&block, 0, HEADER, KEPT);
    size_t length = edit_directory(&block, get(&block, 4, 4), IMAGE) ? clear(&block) : 0;
    free(block.marks);
    return length > 0 && is_corrected(&block, length) ? length : 0;
}
