// The coded pictures that a HEIF file makes its primary picture of (ISO 23008-12): how they are coded, and where their data are.
//
// libheif 1.15 makes RGB of each tile. Who knows where the tiles' data are has their planes as they are coded. Only what is
// plain is read here; all else is left to libheif.

#include "Boxes.h"
#include "Decoder.h"
#include "HEIF.h"

#include <stdlib.h>
#include <string.h>

/// What the file says of one item. What it says twice is not understood.
typedef struct Item {
    uint64_t kind;
    int kinds;
    Place place;
    int places;
    /// The content of `hvcC` or `av1C`.
    Range configuration;
    int configurations;
    int64_t width;
    int64_t height;
    int sizes;
    /// The content of a `colr` with numbers.
    Range colour;
    int colours;
    /// It has properties that are not looked at here.
    bool is_strange;
} Item;

typedef struct ItemReader {
    HEIFCoded *coded;
    Grid grid;
    Item *items;
    /// Of `items`, by the number of the item; 0 is none.
    uint16_t numbers[HIGHEST_ITEM + 1];
    /// Whose properties are being read.
    Item *now;
} ItemReader;

static Item *item_of(ItemReader *reader, uint64_t item) {
    if (item > HIGHEST_ITEM || reader->numbers[item] == 0) return NULL;
    return &reader->items[reader->numbers[item]];
}

static void take_kind(void *state, uint64_t number, uint64_t kind) {
    Item *item = item_of(state, number);
    if (item == NULL) return;
    item->kind = kind;
    item->kinds += 1;
}

static void take_place(void *state, const Place *place) {
    Item *item = item_of(state, place->item);
    if (item == NULL) return;
    item->place = *place;
    item->places += 1;
}

static bool is_asked(void *state, uint64_t number) {
    ItemReader *reader = state;
    reader->now = item_of(reader, number);
    return reader->now != NULL;
}

static bool take_property(void *state, Range box) {
    // What of these changes a picture has been seen to by heif_orientation.
    static const char *const harmless[] = {"irot", "imir", "pixi", "pasp", "free", "clli", "mdcv"};
    Item *item = ((ItemReader *)state)->now;
    Range content = {box.bytes + 8, box.count - 8};
    if (is_named(box.bytes, "hvcC") || is_named(box.bytes, "av1C")) {
        item->configuration = content;
        item->configurations += 1;
    } else if (is_named(box.bytes, "ispe") && content.count >= 12) {
        item->width = (int64_t)big(content.bytes + 4, 4);
        item->height = (int64_t)big(content.bytes + 8, 4);
        item->sizes += 1;
    } else if (is_named(box.bytes, "colr") && content.count >= 4) {
        if (memcmp(content.bytes, "nclx", 4) != 0) return true;
        item->colour = content;
        item->colours += 1;
    } else {
        bool is_harmless = false;
        for (size_t index = 0; index < sizeof harmless / sizeof *harmless; index += 1) {
            is_harmless = is_harmless || is_named(box.bytes, harmless[index]);
        }
        item->is_strange = item->is_strange || !is_harmless;
    }
    return true;
}

static bool are_equal(Range one, Range other) {
    return one.count == other.count && (one.count == 0 || memcmp(one.bytes, other.bytes, one.count) == 0);
}

static bool is_understood(const Item *item, const Item *first) {
    return item->kinds == 1 && item->kind == first->kind && item->places == 1 && item->place.kind == PLACE_IN_FILE
        && item->place.count > 0 && item->place.end <= INT64_MAX && item->sizes == 1 && item->width == first->width
        && item->height == first->height && item->configurations == 1
        && are_equal(item->configuration, first->configuration) && item->colours == first->colours && item->colours <= 1
        && are_equal(item->colour, first->colour) && !item->is_strange;
}

/// Keeps what the decoder reads before the data: parameter sets, each with its length before it in four bytes as units of the data
/// have it (ISO 14496-15, 8.3.3.1). False where the pictures are not of 8 bits in 4:2:0.
static bool keep_hevc_headers(HEIFCoded *coded, Range configuration) {
    const uint8_t *bytes = configuration.bytes;
    if (configuration.count < 23 || (bytes[16] & 3) != 1 || (bytes[17] & 7) != 0 || (bytes[18] & 7) != 0) return false;
    if ((bytes[21] & 3) != 3) return false;
    // Two bytes for each unit become four.
    coded->headers = malloc(2 * configuration.count);
    if (coded->headers == NULL) return false;
    size_t at = 23;
    for (int arrays = bytes[22]; arrays > 0; arrays -= 1) {
        if (configuration.count - at < 3) return false;
        uint64_t units = big(bytes + at + 1, 2);
        at += 3;
        for (; units > 0; units -= 1) {
            if (configuration.count - at < 2) return false;
            size_t length = (size_t)big(bytes + at, 2);
            if (configuration.count - at - 2 < length) return false;
            uint8_t *to = coded->headers + coded->header_bytes;
            memcpy(to, (uint8_t[]){0, 0, bytes[at], bytes[at + 1]}, 4);
            memcpy(to + 4, bytes + at + 2, length);
            coded->header_bytes += 4 + length;
            at += 2 + length;
        }
    }
    return true;
}

/// The same of AV1 (AV1 in ISOBMFF, 2.3): the sequence header, as it is.
static bool keep_av1_headers(HEIFCoded *coded, Range configuration) {
    const uint8_t *bytes = configuration.bytes;
    enum { DEPTH = 0x60, GRAY_AND_CHROMA = 0x1c, HALVED = 0x0c };
    if (configuration.count < 4 || bytes[0] != 0x81 || (bytes[2] & DEPTH) != 0) return false;
    if ((bytes[2] & GRAY_AND_CHROMA) != HALVED) return false;
    coded->header_bytes = configuration.count - 4;
    coded->headers = malloc(coded->header_bytes + 1);
    if (coded->headers == NULL) return false;
    memcpy(coded->headers, bytes + 4, coded->header_bytes);
    return true;
}

static bool keep_item(HEIFCoded *coded, const Item *item) {
    coded->width = item->width;
    coded->height = item->height;
    if (item->colours > 0) {
        if (item->colour.count < 11) return false;
        coded->has_colour = true;
        coded->matrix = (int)big(item->colour.bytes + 8, 2);
        coded->is_full_range = (item->colour.bytes[10] & 0x80) != 0;
    }
    if (item->kind == name_of("hvc1")) return keep_hevc_headers(coded, item->configuration);
    coded->is_av1 = true;
    return item->kind == name_of("av01") && keep_av1_headers(coded, item->configuration);
}

static bool is_single(Range all, const char *name) {
    int count = 0;
    Range box;
    while (take_box(&all, &box)) count += is_named(box.bytes, name);
    return count <= 1;
}

static bool read_items(const Meta *meta, ItemReader *reader, const ItemList *list, bool is_grid) {
    HEIFCoded *coded = reader->coded;
    size_t used = 0;
    for (size_t index = 0; index < list->count; index += 1) {
        uint16_t *number = &reader->numbers[item_at(list, index)];
        if (*number == 0) *number = (uint16_t)(used += 1);
    }
    if (is_grid) {
        if (reader->numbers[meta->item] != 0) return false;
        reader->numbers[meta->item] = (uint16_t)(used += 1);
    }
    each_entry(meta, take_kind, reader);
    if (!each_place(meta, take_place, reader) || !each_property(meta, is_asked, take_property, reader)) return false;
    const Item *first = item_of(reader, item_at(list, 0));
    for (size_t index = 0; index < list->count; index += 1) {
        const Item *item = item_of(reader, item_at(list, index));
        if (!is_understood(item, first)) return false;
        coded->places[index] = (HEIFPlace){(int64_t)item->place.offset, (int64_t)item->place.count};
    }
    if (!keep_item(coded, first)) return false;
    if (!is_grid) {
        reader->grid = (Grid){.rows = 1, .columns = 1, .width = coded->width, .height = coded->height};
        return true;
    }
    const Item *grid = item_of(reader, meta->item);
    // Its own colour is that of its tiles, or there is none.
    if (grid->colours > 1 || (grid->colours == 1 && !are_equal(grid->colour, first->colour))) return false;
    return find_grid(meta, &reader->grid);
}

static bool read_coded(const Meta *meta, void *result) {
    static const char *const names[] = {"pitm", "iprp", "iinf", "iref", "iloc", "idat"};
    ItemReader *reader = result;
    HEIFCoded *coded = reader->coded;
    for (size_t index = 0; index < sizeof names / sizeof *names; index += 1) {
        if (!is_single(meta->content, names[index])) return false;
    }
    Range properties = content_of(meta->content, "iprp", 0);
    if (!is_single(properties, "ipco") || !is_single(properties, "ipma") || meta->item > HIGHEST_ITEM) return false;
    uint8_t primary[4] = {0, 0, (uint8_t)(meta->item >> 8), (uint8_t)meta->item};
    ItemList list = {primary, 4, 1};
    bool is_grid = kind_of_primary(meta) == name_of("grid");
    if (is_grid && (!find_tiles(meta, &list) || list.count == 0 || list.count >= HIGHEST_ITEM)) return false;
    coded->count = (int64_t)list.count;
    coded->places = calloc(list.count, sizeof *coded->places);
    // The first is none, and one may be the grid.
    reader->items = calloc(list.count + 2, sizeof *reader->items);
    return coded->places != NULL && reader->items != NULL && read_items(meta, reader, &list, is_grid);
}

/// The grid covers the picture, and no tile is beyond it. A sample of chroma lies on one tile.
static bool is_covered(int64_t whole, int64_t part, int64_t count) {
    return part > 0 && whole > 0 && (count - 1) * part < whole && count * part >= whole && (count == 1 || part % 2 == 0);
}

bool heif_coded(Job *job, HEIFCoded *coded) {
    *coded = (HEIFCoded){0};
    ItemReader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return false;
    reader->coded = coded;
    bool is_read = with_meta(job, read_coded, reader) && finish_grid(job, &reader->grid);
    coded->rows = reader->grid.rows;
    coded->columns = reader->grid.columns;
    coded->whole_width = reader->grid.width;
    coded->whole_height = reader->grid.height;
    free(reader->items);
    free(reader);
    is_read = is_read && coded->rows * coded->columns == coded->count
        && is_covered(coded->whole_width, coded->width, coded->columns)
        && is_covered(coded->whole_height, coded->height, coded->rows);
    if (!is_read) heif_coded_release(coded);
    return is_read;
}

void heif_coded_release(HEIFCoded *coded) {
    free(coded->places);
    free(coded->headers);
    *coded = (HEIFCoded){0};
}
