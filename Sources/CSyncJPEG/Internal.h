// What the files of this shim share. Not part of its interface.
#ifndef CSYNC_JPEG_INTERNAL_H
#define CSYNC_JPEG_INTERNAL_H

#include "CSyncJPEG.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

// jpeglib.h needs size_t and FILE before it.
#include <jpeglib.h>

#define CSJ_LOCAL __attribute__((visibility("hidden")))

// MARK: Guard: errors, warnings and memory of one reader

/// The error manager of a decoder and an encoder. `base` is first, so that `cinfo->err` is the guard.
typedef struct Guard {
    struct jpeg_error_mgr base;
    jmp_buf jump;
    CSyncJPEG_Failure *failure;
    int64_t memory_limit;
    int64_t memory_held;
    int64_t memory_peak;
    struct jpeg_memory_mgr library;
} Guard;

CSJ_LOCAL void csj_guard_init(Guard *guard, int64_t memory_limit);
/// Fills in the failure and jumps. Only while a setjmp of the guard is live.
CSJ_LOCAL __attribute__((noreturn, format(printf, 4, 5))) void csj_fail(
    Guard *guard, CSyncJPEG_Status status, int error_number, const char *format, ...);
/// Counts libjpeg's allocations for `cinfo` against the guard. Called once, after its creation.
CSJ_LOCAL void csj_guard_memory(Guard *guard, j_common_ptr cinfo);
/// Counts bytes that the shim allocates itself; jumps when they go beyond the limit.
CSJ_LOCAL void csj_charge(Guard *guard, int64_t bytes);

/// Memory that lives until `csj_arena_free`, however the functions between are left.
typedef struct Arena {
    struct ArenaBlock *first;
} Arena;

/// Zeroed, aligned to 64 bytes. Jumps on failure.
CSJ_LOCAL void *csj_arena_alloc(Arena *arena, Guard *guard, size_t count, size_t size);
CSJ_LOCAL void csj_arena_free(Arena *arena);

// MARK: Source

enum { SOURCE_BUFFER = 64 * 1024, SOURCE_HISTORY = 64 };

/// Reads a descriptor by pread, or memory where the descriptor is -1. The last bytes of the buffer before are kept in front of it (see `csj_source_skipped`).
typedef struct Source {
    struct jpeg_source_mgr base;
    int descriptor;
    const uint8_t *memory;
    size_t memory_count;
    off_t offset;
    size_t filled;
    unsigned char bytes[SOURCE_HISTORY + SOURCE_BUFFER];
} Source;

CSJ_LOCAL void csj_source_init(Source *source, int descriptor, const uint8_t *memory, size_t memory_count);
/// Bytes of the whole file, or -1 when they are not known.
CSJ_LOCAL int64_t csj_source_size(const Source *source);
/// Of the next byte that is read, from the first of the file on.
CSJ_LOCAL off_t csj_source_offset(const Source *source);
/// The next byte of the header; jumps at the end of the file.
CSJ_LOCAL int csj_source_byte(j_decompress_ptr cinfo);
/// Whether the `count` bytes in front of the marker that was just read are mere padding.
CSJ_LOCAL bool csj_source_skipped_padding(const Source *source, unsigned count);

// MARK: Markers

/// The segments that are kept: copied from the header while it is read, bounded by what the formats allow.
typedef struct Markers {
    uint8_t *exif;
    size_t exif_count;
    /// EXIF segments that were read.
    int exif_segments;
    /// ICC chunks by their number - 1, each without its 14 byte header.
    uint8_t *icc[255];
    uint16_t icc_count[255];
    int icc_total;
    bool icc_damaged;
    /// The IPTC record of the Photoshop segment.
    uint8_t *iptc;
    size_t iptc_count;
} Markers;

enum { PLANES_MAX = 4 };

/// Rows that are taken from each plane of samples at once, in rows of the picture: even, for chroma may have half of them.
enum { BAND_ROWS = 16 };

/// The samples of a picture that somebody else has decoded.
typedef struct Samples {
    int descriptor;
    bool is_rgb;
    int planes;
    int width[PLANES_MAX], height[PLANES_MAX];
    /// Pixels that a sample covers on each axis.
    int across[PLANES_MAX], down[PLANES_MAX];
    off_t offset[PLANES_MAX];
    /// A band of each plane.
    uint8_t *band[PLANES_MAX];
} Samples;

struct CSyncJPEG_Reader {
    Guard guard;
    struct jpeg_decompress_struct decoder;
    struct jpeg_progress_mgr progress;
    Source source;
    Markers markers;
    Arena arena;
    CSyncJPEG_Limits limits;
    CSyncJPEG_Info info;
    /// Of a reader of samples, whose decoder is none: it tells the colours and that there were no markers.
    Samples samples;
    bool has_samples;
    bool used;
};

CSJ_LOCAL void csj_samples_init(CSyncJPEG_Reader *reader, int descriptor, const CSyncJPEG_Samples *samples);
/// Reads the band of all planes that begins at this row of the picture, as YCbCr or gray.
CSJ_LOCAL void csj_samples_read(CSyncJPEG_Reader *reader, int row);

CSJ_LOCAL void csj_markers_install(j_decompress_ptr cinfo);
/// Keeps a profile as if it had been read from segments.
CSJ_LOCAL void csj_markers_keep_icc(CSyncJPEG_Reader *reader, const uint8_t *icc, size_t count);
CSJ_LOCAL void csj_markers_write(
    const Markers *markers, j_compress_ptr cinfo, const uint8_t *exif, size_t exif_count, bool keep_iptc);

// MARK: Decoder

/// Begins to decode raw planes, in blocks of 1, 2, 4 or 8 samples.
CSJ_LOCAL void csj_decoding_start(CSyncJPEG_Reader *reader, unsigned block_size);
/// Rows for the samples of one component that libjpeg gives at once.
CSJ_LOCAL void csj_decoding_rows(CSyncJPEG_Reader *reader, int index, JSAMPROW *rows);

// MARK: Resampler

/// One axis of a plane: output sample i is centred on input position (i + 0.5) * scale + offset.
typedef struct Span {
    int in;
    int out;
    double scale;
    double offset;
} Span;

/// The filter of one axis: `taps` weights in Q14 for each output sample, beginning at input sample `first`.
typedef struct Filter {
    int taps;
    int32_t *first;
    int16_t *weights;
} Filter;

/// One colour component on its way through the resampler.
typedef struct Plane {
    int in_width, in_height, out_width, out_height;
    Filter across, down;
    /// Whether the output is the input: the filters would give the same samples.
    bool is_copy;
    int16_t *ring;
    int ring_rows;
    int ring_stride;
    int rows_in, rows_out;
    int16_t *mixed;
} Plane;

CSJ_LOCAL void csj_plane_init(Plane *plane, Guard *guard, Arena *arena, Span across, Span down);
CSJ_LOCAL void csj_plane_push(Plane *plane, const uint8_t *row);
/// Writes the next output row, or returns false when it needs more input.
CSJ_LOCAL bool csj_plane_pull(Plane *plane, uint8_t *row);

// MARK: Writer

typedef struct WriterPlane {
    /// Samples, before turning.
    int width, height;
    /// Output pixels that a sample covers on each axis, before turning.
    int pixels_across, pixels_down;
    /// A ring of `capacity` rows; `filled` counts those that came.
    uint8_t *rows;
    int stride, capacity, filled;
    /// The rows of one iMCU row for the encoder; `turned` is their memory when they do not lie in `rows` as they are.
    int imcu_rows;
    uint8_t *turned;
    int turned_stride;
    JSAMPROW pointers[2 * DCTSIZE];
} WriterPlane;

/// The encoder, and the rows on their way to it: a ring of rows as they come, or the whole picture when it is turned.
typedef struct Writer {
    struct jpeg_compress_struct encoder;
    struct jpeg_destination_mgr destination;
    Guard *guard;
    uint8_t *bytes;
    size_t count, capacity;
    bool created;

    int components;
    bool flip_x, flip_y, transpose;
    WriterPlane planes[PLANES_MAX];
    int imcu_row;
} Writer;

/// The turn of an EXIF orientation as three steps: flip columns, flip rows, then swap the axes.
CSJ_LOCAL void csj_turn(int orientation, bool *flip_x, bool *flip_y, bool *transpose);

/// An encoder for pictures like that of the reader, that has no size yet.
CSJ_LOCAL void csj_writer_choose(Writer *writer, CSyncJPEG_Reader *reader, int quality);
/// An encoder for a picture like that of the reader, of width × height before it is turned.
CSJ_LOCAL void csj_writer_init(
    Writer *writer, CSyncJPEG_Reader *reader, int width, int height, const CSyncJPEG_Options *options);
/// Writes the header with its segments; the rows follow.
CSJ_LOCAL void csj_writer_start(Writer *writer, const CSyncJPEG_Reader *reader, const uint8_t *exif, size_t exif_count,
    bool keep_iptc);
/// Where the next row of a component goes; `csj_writer_commit` hands it over.
CSJ_LOCAL uint8_t *csj_writer_row(Writer *writer, int component);
CSJ_LOCAL void csj_writer_commit(Writer *writer, int component);
CSJ_LOCAL void csj_writer_finish(Writer *writer);
CSJ_LOCAL void csj_writer_destroy(Writer *writer);

#endif
