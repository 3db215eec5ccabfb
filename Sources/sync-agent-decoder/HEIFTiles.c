// How the tiles of a HEIF file's primary picture lie (ISO 23008-12, 6.6.2.3): libheif 1.15 believes whatever it is told of it.

#include "Boxes.h"
#include "Decoder.h"

#include <stdlib.h>
#include <string.h>

void each_entry(const Meta *meta, void (*take)(void *state, uint64_t item, uint64_t kind), void *state) {
    Range entries = content_of(meta->content, "iinf", 0);
    if (entries.count < 6) return;
    size_t skipped = entries.bytes[0] == 0 ? 6 : 8;
    if (entries.count < skipped) return;
    Range rest = {entries.bytes + skipped, entries.count - skipped};
    Range box;
    while (take_box(&rest, &box)) {
        if (!is_named(box.bytes, "infe") || box.count < 12 || box.bytes[8] < 2) continue;
        size_t id_bytes = box.bytes[8] == 2 ? 2 : 4;
        if (box.count < 12 + id_bytes + 2 + 4) continue;
        take(state, big(box.bytes + 12, id_bytes), big(box.bytes + 12 + id_bytes + 2, 4));
    }
}

typedef struct Primary {
    uint64_t item;
    /// 0 where there is none.
    uint64_t kind;
} Primary;

static void take_primary(void *state, uint64_t item, uint64_t kind) {
    Primary *primary = state;
    if (item == primary->item && primary->kind == 0) primary->kind = kind;
}

uint64_t kind_of_primary(const Meta *meta) {
    Primary primary = {.item = meta->item};
    each_entry(meta, take_primary, &primary);
    return primary.kind;
}

uint64_t item_at(const ItemList *list, size_t index) { return big(list->bytes + index * list->id_bytes, list->id_bytes); }

bool find_tiles(const Meta *meta, ItemList *tiles) {
    Range references = content_of(meta->content, "iref", 0);
    if (references.count < 4) return false;
    size_t id_bytes = references.bytes[0] == 0 ? 2 : 4;
    Range rest = {references.bytes + 4, references.count - 4};
    Range box;
    while (take_box(&rest, &box)) {
        if (!is_named(box.bytes, "dimg") || box.count < 8 + id_bytes + 2) continue;
        if (big(box.bytes + 8, id_bytes) != meta->item) continue;
        *tiles = (ItemList){box.bytes + 8 + id_bytes + 2, id_bytes, (size_t)big(box.bytes + 8 + id_bytes, 2)};
        if (box.count < 8 + id_bytes + 2 + tiles->count * id_bytes) return false;
        for (size_t index = 0; index < tiles->count; index += 1) {
            if (item_at(tiles, index) > HIGHEST_ITEM) return false;
        }
        return true;
    }
    return false;
}

// MARK: Grids

typedef struct GridSearch {
    uint64_t item;
    Place place;
    int places;
} GridSearch;

static void take_grid(void *state, const Place *place) {
    GridSearch *search = state;
    if (place->item != search->item) return;
    search->place = *place;
    search->places += 1;
}

static bool read_grid(Grid *grid, const uint8_t *bytes, size_t count) {
    size_t width = count < 2 || (bytes[1] & 1) == 0 ? 2 : 4;
    if (count < 4 + 2 * width) return false;
    grid->rows = bytes[2] + 1;
    grid->columns = bytes[3] + 1;
    grid->width = (int64_t)big(bytes + 4, width);
    grid->height = (int64_t)big(bytes + 4 + width, width);
    return true;
}

bool find_grid(const Meta *meta, Grid *grid) {
    GridSearch search = {.item = meta->item};
    *grid = (Grid){0};
    if (!each_place(meta, take_grid, &search) || search.places != 1) return false;
    const Place *place = &search.place;
    if (place->kind == PLACE_IN_FILE && place->end <= INT64_MAX) {
        grid->offset = (int64_t)place->offset;
        grid->bytes = (int64_t)place->count;
        return true;
    }
    Range data = content_of(meta->content, "idat", 0);
    return place->kind == PLACE_IN_META && place->end <= data.count
        && read_grid(grid, data.bytes + place->offset, (size_t)place->count);
}

bool finish_grid(Job *job, Grid *grid) {
    if (grid->rows > 0) return true;
    uint8_t bytes[12];
    size_t count = grid->bytes < (int64_t)sizeof bytes ? (size_t)grid->bytes : sizeof bytes;
    return read_picture(job, bytes, count, grid->offset) == count && read_grid(grid, bytes, count);
}

// MARK: Tiles

typedef struct TileReader {
    HEIFTiles *tiles;
    Grid grid;
    bool has_grid;
    /// By the number of the item.
    bool is_tile[HIGHEST_ITEM + 1];
    bool has_size[HIGHEST_ITEM + 1];
    /// Whose properties are being read.
    uint64_t now;
    bool is_wrong;
} TileReader;

static bool is_tile(void *state, uint64_t item) {
    TileReader *reader = state;
    reader->now = item;
    return item <= HIGHEST_ITEM && reader->is_tile[item];
}

static bool take_tile_property(void *state, Range box) {
    TileReader *reader = state;
    HEIFTiles *tiles = reader->tiles;
    if (is_named(box.bytes, "clap") || is_named(box.bytes, "irot") || is_named(box.bytes, "imir")) {
        reader->is_wrong = true;
    } else if (is_named(box.bytes, "ispe") && box.count >= 20) {
        int64_t width = (int64_t)big(box.bytes + 12, 4);
        int64_t height = (int64_t)big(box.bytes + 16, 4);
        reader->is_wrong = reader->is_wrong || (tiles->width != 0 && (width != tiles->width || height != tiles->height));
        tiles->width = width;
        tiles->height = height;
        reader->has_size[reader->now] = true;
    }
    return true;
}

static bool read_tiles(const Meta *meta, void *result) {
    TileReader *reader = result;
    ItemList list;
    if (kind_of_primary(meta) != name_of("grid") || !find_tiles(meta, &list)) return false;
    for (size_t index = 0; index < list.count; index += 1) reader->is_tile[item_at(&list, index)] = true;
    reader->tiles->count = (int64_t)list.count;
    if (!each_property(meta, is_tile, take_tile_property, reader)) return false;
    for (size_t index = 0; index < list.count; index += 1) {
        reader->is_wrong = reader->is_wrong || !reader->has_size[item_at(&list, index)];
    }
    reader->has_grid = find_grid(meta, &reader->grid);
    return true;
}

bool heif_tiles(Job *job, HEIFTiles *tiles) {
    *tiles = (HEIFTiles){0};
    TileReader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return fail(job, CSYNC_DECODER_OUT_OF_MEMORY, "no memory left");
    reader->tiles = tiles;
    bool is_known = with_meta(job, read_tiles, reader);
    bool is_wrong = is_known && reader->is_wrong;
    Grid grid = reader->grid;
    bool has_grid = is_known && reader->has_grid && finish_grid(job, &grid);
    free(reader);
    if (!is_known) *tiles = (HEIFTiles){0};
    if (is_wrong) {
        return fail(job, CSYNC_DECODER_UNSUPPORTED, "one of its tiles is turned, cut, or of another size than the others");
    }
    bool is_covered = !has_grid
        || (grid.columns * tiles->width >= grid.width && grid.rows * tiles->height >= grid.height);
    return is_covered || fail(job, CSYNC_DECODER_CORRUPT, "the tiles do not cover the picture");
}
