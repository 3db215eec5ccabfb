// A block of 7 KB that points at one directory again and again keeps a reader busy for seconds, one of 60 KB for hours:
// each entry may lead to thousands of others, and each of them to a value as long as the block. A camera writes each
// pointer once a directory, and values beside each other.

#include "Bounds.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 8,
    ENTRY = 12,
    TAG_EXIF_IFD = 0x8769,
    TAG_GPS_IFD = 0x8825,
    TAG_MAKER_NOTE = 0x927C,
    TAG_INTEROP_IFD = 0xA005,
    // Padding, as Microsoft's programs write it: readers skip it.
    TAG_PADDING = 0xEA1C,
    TYPE_BYTE = 1,
};

typedef struct Walk {
    uint8_t *bytes;
    size_t count;
    bool big_endian;
    /// One for each byte: whether it belongs to a directory.
    uint8_t *claimed;
    /// Bytes that values may still have.
    size_t budget;
    Bounds found;
} Walk;

static uint32_t get(const Walk *walk, size_t at, int size) {
    uint32_t value = 0;
    for (int i = 0; i < size; i++) {
        value |= (uint32_t)walk->bytes[at + (size_t)i] << 8 * (walk->big_endian ? size - 1 - i : i);
    }
    return value;
}

static void put(Walk *walk, size_t at, int size, uint32_t value) {
    for (int i = 0; i < size; i++) {
        walk->bytes[at + (size_t)i] = (uint8_t)(value >> 8 * (walk->big_endian ? size - 1 - i : i));
    }
}

/// Leaves an entry of four bytes of padding in place of one.
static void hide(Walk *walk, size_t entry) {
    put(walk, entry, 2, TAG_PADDING);
    put(walk, entry + 2, 2, TYPE_BYTE);
    put(walk, entry + 4, 4, 4);
    put(walk, entry + 8, 4, 0);
}

static bool points(uint32_t tag) {
    return tag == TAG_EXIF_IFD || tag == TAG_GPS_IFD || tag == TAG_INTEROP_IFD;
}

/// Bytes of an entry's value outside of the entry.
static uint64_t value_size(const Walk *walk, size_t entry) {
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    uint32_t type = get(walk, entry + 2, 2);
    uint64_t size = type < sizeof sizes ? (uint64_t)sizes[type] * get(walk, entry + 4, 4) : 0;
    return size > 4 ? size : 0;
}

/// Entries of a directory that lie in the block: readers take those of one that is cut off, too.
static size_t entries_within(const Walk *walk, size_t at) {
    if (at < HEADER || at + 2 > walk->count) {
        return 0;
    }
    size_t entries = get(walk, at, 2), room = (walk->count - at - 2) / ENTRY;
    return entries < room ? entries : room;
}

/// Claims the bytes of a directory. Returns false when a part of them is another one's.
static bool claim(Walk *walk, size_t at, size_t entries) {
    size_t size = 2 + entries * ENTRY;
    if (memchr(walk->claimed + at, 1, size) != NULL) {
        return false;
    }
    memset(walk->claimed + at, 1, size);
    return true;
}

/// Walks a directory and those below it, each once. Returns false when it has no place of its own.
///
/// Recursion ends: each level claims bytes that no other has.
static bool walk_directory(Walk *walk, size_t at) {
    size_t entries = entries_within(walk, at);
    if (entries == 0) {
        return true;
    }
    if (!claim(walk, at, entries)) {
        return false;
    }
    for (size_t i = 0; i < entries; i++) {
        size_t entry = at + 2 + i * ENTRY;
        uint32_t tag = get(walk, entry, 2);
        if (tag == TAG_MAKER_NOTE) {
            walk->found.has_maker_note = true;
            hide(walk, entry);
            continue;
        }
        if (points(tag)) {
            size_t target = get(walk, entry + 8, 4);
            if (tag == TAG_GPS_IFD && entries_within(walk, target) > 0) {
                walk->found.has_gps = true;
            }
            if (!walk_directory(walk, target)) {
                walk->found.is_sound = false;
                hide(walk, entry);
            }
            continue;
        }
        uint64_t size = value_size(walk, entry);
        if (size > walk->budget) {
            // A value that does not lie in the block is read by nobody.
            bool is_readable = size <= walk->count && get(walk, entry + 8, 4) < walk->count;
            walk->found.is_sound = walk->found.is_sound && !is_readable;
            hide(walk, entry);
        } else {
            walk->budget -= (size_t)size;
        }
    }
    return true;
}

Bounds bound_block(uint8_t *bytes, size_t count) {
    Walk walk = {.bytes = bytes, .count = count, .budget = 2 * count, .found = {.is_sound = true}};
    if (count < HEADER + 2) {
        return walk.found;
    }
    walk.big_endian = memcmp(bytes, "MM", 2) == 0;
    walk.claimed = calloc(count, 1);
    if (walk.claimed == NULL) {
        walk.found.is_sound = false;
        return walk.found;
    }
    size_t image = get(&walk, 4, 4), entries = entries_within(&walk, image);
    walk_directory(&walk, image);
    size_t link = image + 2 + entries * ENTRY;
    // The directory of the thumbnail: libexif reads no further one.
    if (entries > 0 && link + 4 <= count && !walk_directory(&walk, get(&walk, link, 4))) {
        walk.found.is_sound = false;
        put(&walk, link, 4, 0);
    }
    free(walk.claimed);
    return walk.found;
}
