// Boxes of a HEIF file (ISO 14496-12, ISO 23008-12), read from memory.
#ifndef BOXES_H
#define BOXES_H

#include "Decoder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Range {
    const uint8_t *bytes;
    size_t count;
} Range;

static inline uint64_t big(const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t index = 0; index < count; index += 1) value = value << 8 | bytes[index];
    return value;
}

/// As a kind of item is compared.
static inline uint64_t name_of(const char *name) { return big((const uint8_t *)name, 4); }

static inline bool is_named(const uint8_t *box, const char *name) { return memcmp(box + 4, name, 4) == 0; }

/// Takes the first box off `rest`; its range has the header. Boxes inside others have 32 bits for their size.
bool take_box(Range *rest, Range *box);

/// The content of the first box of that name, without `skipped` bytes.
Range content_of(Range all, const char *name, size_t skipped);

/// `meta`, read as far as it tells properties.
typedef struct Meta {
    Range content;
    /// Of the primary picture.
    uint64_t item;
    /// The properties, by their number; 0 is none.
    Range properties[256];
    size_t count;
    /// `ipma`: which item has which.
    Range uses;
} Meta;

/// Reads `meta` and gives it to `read`.
bool with_meta(Job *job, bool (*read)(const Meta *meta, void *result), void *result);

/// Goes through `ipma`. `is_asked` says of which items `take` wants the properties, and hears of each list; `take` ends it
/// all by false.
bool each_property(
    const Meta *meta, bool (*is_asked)(void *state, uint64_t item), bool (*take)(void *state, Range box), void *state);

/// A part of an item's data, where `iloc` says that it lies.
typedef struct Place {
    uint64_t item;
    enum { PLACE_IN_FILE, PLACE_IN_META, PLACE_ELSEWHERE } kind;
    uint64_t offset;
    uint64_t count;
    /// UINT64_MAX where it is beyond all numbers.
    uint64_t end;
} Place;

/// Goes through `iloc` (ISO 14496-12, 8.11.3). False where it is not whole.
bool each_place(const Meta *meta, void (*take)(void *state, const Place *place), void *state);

// HEIFTiles.c

/// Items with higher numbers are left to libheif.
enum { HIGHEST_ITEM = UINT16_MAX };

/// Calls `take` with each entry of `iinf` that names a kind.
void each_entry(const Meta *meta, void (*take)(void *state, uint64_t item, uint64_t kind), void *state);

/// 0 where there is none.
uint64_t kind_of_primary(const Meta *meta);

/// Numbers of items, side by side in the file.
typedef struct ItemList {
    const uint8_t *bytes;
    size_t id_bytes;
    size_t count;
} ItemList;

uint64_t item_at(const ItemList *list, size_t index);

/// The tiles of the primary picture, by its `dimg` in `iref`. False where there are none, or one has a number too high.
bool find_tiles(const Meta *meta, ItemList *tiles);

/// What a grid says of itself (ISO 23008-12, 6.6.2.3.2).
typedef struct Grid {
    int64_t rows;
    int64_t columns;
    int64_t width;
    int64_t height;
    /// Where its data are in the file, until they are read.
    int64_t offset;
    int64_t bytes;
} Grid;

/// That of the primary picture; what lies in the file is read by `finish_grid`. False where one cannot be read.
bool find_grid(const Meta *meta, Grid *grid);
bool finish_grid(Job *job, Grid *grid);

#endif
