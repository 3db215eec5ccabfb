// The boxes of a HEIF file (ISO 23008-12): how its primary picture is turned, and whether all is there that they name.
//
// `irot` and `imir` become an orientation: libheif turns a picture by making it once more, which is more memory than all
// the rest takes. Who reduces the picture turns it for nothing. What is not as it should be here is left to libheif.

#include "Boxes.h"
#include "Decoder.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_META = 4 << 20 };

bool take_box(Range *rest, Range *box) {
    if (rest->count < 8) return false;
    size_t count = (size_t)big(rest->bytes, 4);
    if (count < 8 || count > rest->count) return false;
    *box = (Range){rest->bytes, count};
    *rest = (Range){rest->bytes + count, rest->count - count};
    return true;
}

Range content_of(Range all, const char *name, size_t skipped) {
    Range box;
    while (take_box(&all, &box)) {
        if (is_named(box.bytes, name) && box.count >= 8 + skipped) {
            return (Range){box.bytes + 8 + skipped, box.count - 8 - skipped};
        }
    }
    return (Range){NULL, 0};
}

// MARK: Properties

static bool read_meta(Range content, Meta *meta) {
    Range primary = content_of(content, "pitm", 0);
    Range properties = content_of(content, "iprp", 0);
    Range list = content_of(properties, "ipco", 0);
    *meta = (Meta){.content = content, .count = 1, .uses = content_of(properties, "ipma", 0)};
    if (primary.count < 6 || list.count == 0 || meta->uses.count < 8) return false;
    size_t width = primary.bytes[0] == 0 ? 2 : 4;
    if (primary.count < 4 + width) return false;
    meta->item = big(primary.bytes + 4, width);
    while (meta->count < 256 && take_box(&list, &meta->properties[meta->count])) meta->count += 1;
    return true;
}

bool each_property(
    const Meta *meta, bool (*is_asked)(void *state, uint64_t item), bool (*take)(void *state, Range box), void *state) {
    Range uses = meta->uses;
    size_t id_bytes = uses.bytes[0] < 1 ? 2 : 4;
    size_t step = (uses.bytes[3] & 1) != 0 ? 2 : 1;
    uint64_t entries = big(uses.bytes + 4, 4);
    size_t at = 8;
    for (uint64_t entry = 0; entry < entries; entry += 1) {
        if (at + id_bytes + 1 > uses.count) return false;
        bool is_ours = is_asked(state, big(uses.bytes + at, id_bytes));
        size_t count = uses.bytes[at + id_bytes];
        at += id_bytes + 1;
        if (at + count * step > uses.count) return false;
        for (size_t index = 0; is_ours && index < count; index += 1) {
            uint64_t number = big(uses.bytes + at + index * step, step) & (step == 2 ? 0x7fff : 0x7f);
            if (number == 0) continue;
            if (number >= meta->count || !take(state, meta->properties[number])) return false;
        }
        at += count * step;
    }
    return true;
}

bool with_meta(Job *job, bool (*read)(const Meta *meta, void *result), void *result) {
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
        Meta meta;
        bool is_known = read_picture(job, bytes, (size_t)count, at) == count
            && read_meta((Range){bytes + 12, (size_t)count - 12}, &meta) && read(&meta, result);
        free(bytes);
        return is_known;
    }
    return false;
}

// MARK: Places

typedef struct Reader {
    Range rest;
    bool is_over;
} Reader;

static uint64_t take_number(Reader *reader, size_t count) {
    if (reader->rest.count < count) {
        reader->is_over = true;
        return 0;
    }
    uint64_t value = big(reader->rest.bytes, count);
    reader->rest = (Range){reader->rest.bytes + count, reader->rest.count - count};
    return value;
}

bool each_place(const Meta *meta, void (*take)(void *state, const Place *place), void *state) {
    Reader reader = {.rest = content_of(meta->content, "iloc", 0)};
    uint64_t version = take_number(&reader, 4) >> 24;
    uint64_t sizes = take_number(&reader, 2);
    size_t offset_bytes = sizes >> 12 & 15;
    size_t length_bytes = sizes >> 8 & 15;
    size_t base_bytes = sizes >> 4 & 15;
    size_t index_bytes = version == 0 ? 0 : sizes & 15;
    if (offset_bytes > 8 || length_bytes > 8 || base_bytes > 8 || index_bytes > 8) return false;
    uint64_t items = take_number(&reader, version < 2 ? 2 : 4);
    for (uint64_t item = 0; item < items && !reader.is_over; item += 1) {
        Place place = {.item = take_number(&reader, version < 2 ? 2 : 4)};
        uint64_t method = version == 0 ? 0 : take_number(&reader, 2) & 15;
        bool is_elsewhere = take_number(&reader, 2) != 0;
        place.kind = is_elsewhere || method > 1 ? PLACE_ELSEWHERE : method == 1 ? PLACE_IN_META : PLACE_IN_FILE;
        uint64_t base = take_number(&reader, base_bytes);
        uint64_t extents = take_number(&reader, 2);
        for (uint64_t extent = 0; extent < extents && !reader.is_over; extent += 1) {
            take_number(&reader, index_bytes);
            uint64_t offset = take_number(&reader, offset_bytes);
            place.count = take_number(&reader, length_bytes);
            bool is_far = __builtin_add_overflow(base, offset, &place.offset)
                || __builtin_add_overflow(place.offset, place.count, &place.end);
            if (is_far) place.end = UINT64_MAX;
            if (!reader.is_over) take(state, &place);
        }
    }
    return !reader.is_over;
}

// MARK: Turns

/// The orientation when a picture of orientation `from` is turned once more.
static int turned_left(int from) { return (const int[]){0, 8, 5, 6, 7, 4, 1, 2, 3}[from]; }
static int mirrored(int from) { return (const int[]){0, 2, 1, 4, 3, 6, 5, 8, 7}[from]; }

typedef struct Turn {
    uint64_t item;
    int lists;
    int orientation;
} Turn;

static bool is_turned_item(void *state, uint64_t item) {
    Turn *turn = state;
    if (item != turn->item) return false;
    turn->lists += 1;
    return true;
}

/// False where the property is one that only libheif applies.
static bool apply(void *state, Range box) {
    Turn *turn = state;
    if (is_named(box.bytes, "clap")) return false;
    bool is_turn = is_named(box.bytes, "irot");
    bool is_mirror = is_named(box.bytes, "imir");
    if (!is_turn && !is_mirror) return true;
    if (box.count < 9) return false;
    int turns = is_turn ? box.bytes[8] & 3 : 0;
    if (is_mirror) {
        turn->orientation = mirrored(turn->orientation);
        // 1: left for right; 0: top for bottom, which is half a turn more.
        turns = (box.bytes[8] & 1) == 1 ? 0 : 2;
    }
    for (int count = 0; count < turns; count += 1) turn->orientation = turned_left(turn->orientation);
    return true;
}

static bool read_turns(const Meta *meta, void *result) {
    Turn *turn = result;
    *turn = (Turn){.item = meta->item, .orientation = 1};
    // Two lists for one item are not as they should be.
    return each_property(meta, is_turned_item, apply, turn) && turn->lists == 1;
}

bool heif_orientation(Job *job, int *orientation) {
    Turn turn;
    bool is_known = with_meta(job, read_turns, &turn);
    *orientation = is_known ? turn.orientation : 1;
    return is_known;
}

// MARK: The end

static void take_end(void *state, const Place *place) {
    uint64_t *end = state;
    if (place->kind == PLACE_IN_FILE && place->end > *end) *end = place->end;
}

/// How far the items of the file reach. What lies elsewhere, or is strange, does not count.
static bool read_extents(const Meta *meta, void *result) {
    each_place(meta, take_end, result);
    return true;
}

bool heif_is_whole(Job *job) {
    static const char *const known[] = {"ftyp", "meta", "mdat", "moov", "moof", "free", "skip", "wide", "uuid", "mfra"};
    uint64_t all = (uint64_t)job->request.file_bytes;
    uint64_t at = 0;
    uint8_t header[16];
    while (all - at >= 8) {
        size_t got = read_picture(job, header, all - at < sizeof header ? 8 : sizeof header, (int64_t)at);
        if (got < 8) return fail_by_library(job, "the file is shorter than it was");
        uint64_t count = big(header, 4);
        if (count == 0) count = all - at;
        if (count == 1) count = got == sizeof header ? big(header + 8, 8) : UINT64_MAX;
        bool is_known = false;
        for (size_t index = 0; index < sizeof known / sizeof *known; index += 1) {
            is_known = is_known || is_named(header, known[index]);
        }
        if (is_known && count > all - at) return fail(job, CSYNC_DECODER_TRUNCATED, "the file ends before its last part does");
        // Another file begins, such as a film, which libheif would take for this one.
        if (at > 0 && is_named(header, "ftyp")) {
            job->request.file_bytes = (int64_t)at;
            break;
        }
        if (count < 8 || count > all - at) break;
        at += count;
        if (is_known) job->reply.picture_end = at;
    }
    all = (uint64_t)job->request.file_bytes;
    uint64_t end = 0;
    with_meta(job, read_extents, &end);
    return end <= all || fail(job, CSYNC_DECODER_TRUNCATED, "the file ends before all that it names");
}
