// How the primary picture of a HEIF file is turned: `irot` and `imir` as an orientation (ISO 23008-12, 6.5.10, 6.5.12).
//
// libheif turns a picture by making it once more, which is more memory than all the rest takes. Who reduces the picture
// turns it for nothing. What is not as it should be here is left to libheif.

#include "Decoder.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_META = 4 << 20 };

typedef struct Range {
    const uint8_t *bytes;
    size_t count;
} Range;

static uint64_t big(const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t index = 0; index < count; index += 1) value = value << 8 | bytes[index];
    return value;
}

static bool is_named(const uint8_t *box, const char *name) { return memcmp(box + 4, name, 4) == 0; }

/// Takes the first box off `rest`; its range has the header. Boxes inside others have 32 bits for their size.
static bool take_box(Range *rest, Range *box) {
    if (rest->count < 8) return false;
    size_t count = (size_t)big(rest->bytes, 4);
    if (count < 8 || count > rest->count) return false;
    *box = (Range){rest->bytes, count};
    *rest = (Range){rest->bytes + count, rest->count - count};
    return true;
}

/// The content of the first box of that name, without `skipped` bytes.
static Range content_of(Range all, const char *name, size_t skipped) {
    Range box;
    while (take_box(&all, &box)) {
        if (is_named(box.bytes, name) && box.count >= 8 + skipped) {
            return (Range){box.bytes + 8 + skipped, box.count - 8 - skipped};
        }
    }
    return (Range){NULL, 0};
}

/// The orientation when a picture of orientation `from` is turned once more.
static int turned_left(int from) { return (const int[]){0, 8, 5, 6, 7, 4, 1, 2, 3}[from]; }
static int mirrored(int from) { return (const int[]){0, 2, 1, 4, 3, 6, 5, 8, 7}[from]; }

/// False where the property is one that only libheif applies.
static bool apply(Range properties, uint64_t number, int *orientation) {
    Range box = {NULL, 0};
    for (uint64_t index = 0; index < number; index += 1) {
        if (!take_box(&properties, &box)) return false;
    }
    if (number == 0) return true;
    if (is_named(box.bytes, "clap")) return false;
    bool is_turn = is_named(box.bytes, "irot");
    bool is_mirror = is_named(box.bytes, "imir");
    if (!is_turn && !is_mirror) return true;
    if (box.count < 9) return false;
    int turns = is_turn ? box.bytes[8] & 3 : 0;
    if (is_mirror) {
        *orientation = mirrored(*orientation);
        // 1: left for right; 0: top for bottom, which is half a turn more.
        turns = (box.bytes[8] & 1) == 1 ? 0 : 2;
    }
    for (int turn = 0; turn < turns; turn += 1) *orientation = turned_left(*orientation);
    return true;
}

static bool read_turns(Range meta, int *orientation) {
    Range primary = content_of(meta, "pitm", 0);
    Range properties = content_of(meta, "iprp", 0);
    Range list = content_of(properties, "ipco", 0);
    Range uses = content_of(properties, "ipma", 0);
    if (primary.count < 6 || list.count == 0 || uses.count < 8) return false;
    size_t width = primary.bytes[0] == 0 ? 2 : 4;
    if (primary.count < 4 + width) return false;
    uint64_t item = big(primary.bytes + 4, width);

    size_t id_bytes = uses.bytes[0] < 1 ? 2 : 4;
    bool is_long = (uses.bytes[3] & 1) != 0;
    uint64_t entries = big(uses.bytes + 4, 4);
    size_t at = 8;
    bool is_found = false;
    for (uint64_t entry = 0; entry < entries; entry += 1) {
        if (at + id_bytes + 1 > uses.count) return false;
        bool is_ours = big(uses.bytes + at, id_bytes) == item;
        size_t count = uses.bytes[at + id_bytes];
        at += id_bytes + 1;
        size_t step = is_long ? 2 : 1;
        if (at + count * step > uses.count) return false;
        for (size_t index = 0; is_ours && index < count; index += 1) {
            uint64_t number = big(uses.bytes + at + index * step, step) & (is_long ? 0x7fff : 0x7f);
            if (!apply(list, number, orientation)) return false;
        }
        // Two lists for one item are not as they should be.
        if (is_ours && is_found) return false;
        is_found = is_found || is_ours;
        at += count * step;
    }
    return is_found;
}

bool heif_orientation(Job *job, int *orientation) {
    *orientation = 1;
    int64_t at = 0;
    int64_t end = job->request.file_bytes;
    uint8_t header[16];
    while (end - at >= (int64_t)sizeof header && read_picture(job, header, sizeof header, at) == sizeof header) {
        uint64_t count = big(header, 4) == 1 ? big(header + 8, 8) : big(header, 4);
        if (count < 8 || count > (uint64_t)(end - at)) return false;
        if (!is_named(header, "meta")) {
            at += (int64_t)count;
            continue;
        }
        if (count < 12 || count > LARGEST_META || big(header, 4) == 1) return false;
        uint8_t *bytes = malloc((size_t)count);
        if (bytes == NULL) return false;
        bool is_known = read_picture(job, bytes, (size_t)count, at) == count
            && read_turns((Range){bytes + 12, (size_t)count - 12}, orientation);
        free(bytes);
        return is_known;
    }
    return false;
}
