// How far a TIFF file reaches: its directories (TIFF 6.0; of more than 4 GiB, BigTIFF) and what they refer to. libtiff leaves out
// what it does not find, with a warning, and knows nothing of what lies behind the end.

#include "Decoder.h"

#include <stdlib.h>

enum { SUB_DIRECTORIES = 330, EXIF_DIRECTORY = 34665, GPS_DIRECTORY = 34853, INTEROPERABILITY_DIRECTORY = 40965 };
enum { STRIP_OFFSETS = 273, STRIP_BYTES = 279, TILE_OFFSETS = 324, TILE_BYTES = 325 };
enum { JPEG_OFFSET = 513, JPEG_BYTES = 514 };
/// From here on they are of makers, and of what is beside the picture (TIFF 6.0, section 8).
enum { PRIVATE_TAGS = 32768 };

/// Of a file that has more, nothing is concluded.
enum { MOST_DIRECTORIES = 4096, MOST_ENTRIES = 1 << 20 };

typedef struct Entry {
    uint64_t count;
    int64_t at;  // its values
    size_t bytes;  // of one
} Entry;

typedef struct Parts {
    Job *job;
    bool is_big_endian;
    bool is_wide;  // BigTIFF
    bool is_cut;
    uint64_t end;
    /// Directories that are still to be read.
    uint64_t waiting[MOST_DIRECTORIES];
    /// Whether it is one of the pages, which name the next one.
    bool is_page[MOST_DIRECTORIES];
    size_t count;
    size_t next;
    size_t entries;
} Parts;

static uint64_t number(const Parts *parts, const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t index = 0; index < count; index += 1) {
        value = value << 8 | bytes[parts->is_big_endian ? index : count - 1 - index];
    }
    return value;
}

/// Whether the bytes are there; how far they reach counts either way.
static bool reach(Parts *parts, uint64_t offset, uint64_t count) {
    uint64_t end;
    uint64_t all = (uint64_t)parts->job->request.file_bytes;
    bool is_there = !__builtin_add_overflow(offset, count, &end) && end <= all;
    if (!is_there) end = all;
    if (end > parts->end) parts->end = end;
    return is_there;
}

static bool is_inside(const Parts *parts, uint64_t offset) {
    return offset < (uint64_t)parts->job->request.file_bytes;
}

static bool read_value(Parts *parts, const Entry *entry, uint64_t index, uint64_t *value) {
    uint8_t bytes[8];
    if (index >= entry->count || entry->bytes > sizeof bytes) return false;
    int64_t at = entry->at + (int64_t)(index * entry->bytes);
    if (read_picture(parts->job, bytes, entry->bytes, at) != entry->bytes) return false;
    *value = number(parts, bytes, entry->bytes);
    return true;
}

static void add_directory(Parts *parts, uint64_t offset, bool is_page) {
    if (offset == 0 || parts->count >= MOST_DIRECTORIES) return;
    for (size_t index = 0; index < parts->count; index += 1) {
        if (parts->waiting[index] == offset) return;
    }
    parts->waiting[parts->count] = offset;
    parts->is_page[parts->count] = is_page;
    parts->count += 1;
}

/// Strips and tiles: those of pages are libtiff's to judge, which estimates what some files tell wrong.
static void reach_samples(Parts *parts, const Entry *offsets, const Entry *sizes) {
    uint64_t count = offsets->count < sizes->count ? offsets->count : sizes->count;
    for (uint64_t index = 0; index < count && parts->entries < MOST_ENTRIES; index += 1) {
        uint64_t offset;
        uint64_t bytes;
        if (!read_value(parts, offsets, index, &offset) || !read_value(parts, sizes, index, &bytes)) return;
        reach(parts, offset, bytes);
        parts->entries += 1;
    }
}

/// What the picture does not need may lead nowhere: some programs copy the place of a directory, or of a maker's values, and not what
/// is there. It counts where it begins in the file, looks like a directory, and ends behind the file.
///
/// - Returns: where the next one is named; 0 where this one is not there.
static uint64_t read_directory(Parts *parts, uint64_t offset, bool is_page) {
    static const size_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    size_t head = parts->is_wide ? 8 : 2;
    size_t step = parts->is_wide ? 20 : 12;
    size_t inline_bytes = parts->is_wide ? 8 : 4;
    uint8_t bytes[20];
    if (!reach(parts, offset, head) || read_picture(parts->job, bytes, head, (int64_t)offset) != head) {
        parts->is_cut |= is_page || is_inside(parts, offset);
        return 0;
    }
    uint64_t count = number(parts, bytes, head);
    if (count > UINT16_MAX) return 0;
    unsigned last = 0;
    Entry found[6] = {{0}};
    static const unsigned tags[] = {STRIP_OFFSETS, STRIP_BYTES, TILE_OFFSETS, TILE_BYTES, JPEG_OFFSET, JPEG_BYTES};
    for (uint64_t index = 0; index < count && parts->entries < MOST_ENTRIES; index += 1) {
        int64_t at = (int64_t)(offset + head + index * step);
        if (!reach(parts, (uint64_t)at, step) || read_picture(parts->job, bytes, step, at) != step) {
            parts->is_cut = true;
            return 0;
        }
        parts->entries += 1;
        unsigned tag = (unsigned)number(parts, bytes, 2);
        unsigned type = (unsigned)number(parts, bytes + 2, 2);
        bool is_known = type > 0 && type < sizeof sizes / sizeof *sizes && sizes[type] > 0;
        // Tags ascend (TIFF 6.0, section 2). What else is found there is something else.
        if (!is_page && (!is_known || (index > 0 && tag <= last))) return 0;
        last = tag;
        Entry entry = {.count = number(parts, bytes + 4, inline_bytes), .at = at + (int64_t)(step - inline_bytes)};
        if (!is_known) continue;
        entry.bytes = sizes[type];
        uint64_t all;
        if (__builtin_mul_overflow(entry.count, entry.bytes, &all)) all = UINT64_MAX;
        if (all > inline_bytes) {
            uint64_t values = number(parts, bytes + step - inline_bytes, inline_bytes);
            if (!reach(parts, values, all)) {
                parts->is_cut |= (is_page && tag < PRIVATE_TAGS) || is_inside(parts, values);
                continue;
            }
            entry.at = (int64_t)values;
        }
        for (size_t kind = 0; kind < sizeof tags / sizeof *tags; kind += 1) {
            if (tags[kind] == tag) found[kind] = entry;
        }
        bool is_one = tag == EXIF_DIRECTORY || tag == GPS_DIRECTORY || tag == INTEROPERABILITY_DIRECTORY;
        if (!is_one && tag != SUB_DIRECTORIES) continue;
        uint64_t other;
        for (uint64_t place = 0; place < (is_one ? 1 : entry.count); place += 1) {
            if (parts->count >= MOST_DIRECTORIES || !read_value(parts, &entry, place, &other)) break;
            add_directory(parts, other, false);
        }
    }
    for (size_t kind = 0; kind < sizeof tags / sizeof *tags; kind += 2) {
        reach_samples(parts, &found[kind], &found[kind + 1]);
    }
    return offset + head + count * step;
}

bool tiff_is_whole(Job *job) {
    uint8_t header[16];
    if (read_picture(job, header, sizeof header, 0) != sizeof header) {
        return fail_by_library(job, "the file ends before its first directory");
    }
    Parts *parts = calloc(1, sizeof *parts);
    if (parts == NULL) return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "no memory left");
    parts->job = job;
    parts->is_big_endian = header[0] == 'M';
    parts->is_wide = number(parts, header + 2, 2) == 43;
    size_t word = parts->is_wide ? 8 : 4;
    add_directory(parts, number(parts, header + word, word), true);
    while (parts->next < parts->count && parts->entries < MOST_ENTRIES && !parts->is_cut) {
        bool is_page = parts->is_page[parts->next];
        uint64_t link = read_directory(parts, parts->waiting[parts->next], is_page);
        parts->next += 1;
        // Some programs write none behind the last one.
        if (link == 0 || !is_page || link >= (uint64_t)job->request.file_bytes) continue;
        uint8_t bytes[8];
        if (!reach(parts, link, word) || read_picture(job, bytes, word, (int64_t)link) != word) {
            parts->is_cut = true;
        } else {
            add_directory(parts, number(parts, bytes, word), true);
        }
    }
    bool is_cut = parts->is_cut;
    bool is_all = parts->count < MOST_DIRECTORIES && parts->entries < MOST_ENTRIES;
    job->reply.picture_end = is_all ? parts->end : 0;
    free(parts);
    return !is_cut || fail(job, CSYNC_DECODER_TRUNCATED, "the file ends before all that its directories name");
}
