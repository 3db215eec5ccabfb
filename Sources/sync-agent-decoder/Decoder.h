// What the files of the worker share: one picture on its way from its file to the memfd.
#ifndef DECODER_H
#define DECODER_H

#include <CSyncDecoder.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRAY = 1, YCBCR = 2, RGB = 3 };

/// A side of a picture at most: what libjpeg writes.
enum { LONGEST_SIDE = 65500 };

/// Blocks beside the picture (EXIF, ICC) at most, in bytes.
enum { LARGEST_BLOCK = 16 << 20 };

typedef struct Job {
    /// Descriptors, the caller's.
    int picture;
    int memory;
    CSyncDecoder_Request request;
    CSyncDecoder_Reply reply;
    /// Bytes were asked for beyond the end of the file: what fails then fails for that.
    bool reached_end;
    /// An errno of pread(2), or 0.
    int read_error;
    int64_t plane_offset[3];
    int32_t plane_width[3];
    /// Where the memfd's next block goes.
    int64_t end;
    /// A row of each plane of RGB, taken apart.
    uint8_t *row;
} Job;

// Decode.c

/// Decodes one picture from one descriptor into the other. Of one that failed, the reply tells nothing but why.
CSyncDecoder_Reply decode_picture(const CSyncDecoder_Request *request, int picture, int memory);

// Decoders: each reads the primary picture to its end, and writes samples and blocks. False when the job has failed.
bool decode_heif(Job *job);
bool decode_png(Job *job);
bool decode_webp(Job *job);
bool decode_tiff(Job *job);
bool decode_gif(Job *job);
bool decode_bmp(Job *job);
/// The preview, as it is.
bool decode_raw(Job *job);

/// The JPEG XL of a JPEG file, and the JPEG file of such a JPEG XL, at the start of the memfd.
bool jpeg_to_jxl(Job *job);
bool jxl_to_jpeg(Job *job);

// Samples.c

/// Notes a failure, the first one only. Returns false.
bool fail(Job *job, CSyncDecoder_Status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// Notes what a library says went wrong with the file's bytes: they could not be read, end too early, or are damaged.
bool fail_by_library(Job *job, const char *words);

/// Fails when `bytes` are more than the decoder may take.
bool fits_in_memory(Job *job, int64_t bytes);

/// Memory that free(3) takes back; NULL when the job has failed for the want of it.
void *take_memory(Job *job, int64_t bytes);

/// Reads up to `count` bytes at `offset`; fewer at the end of the file or when it cannot be read, which the job notes.
size_t read_picture(Job *job, void *bytes, size_t count, int64_t offset);

/// The whole file in memory that free(3) takes back; NULL when the job has failed.
uint8_t *read_whole_picture(Job *job);

/// Checks size and limits, and makes room for all planes. Before all that follow, and again for a picture that begins anew.
bool begin_samples(Job *job, int64_t width, int64_t height, int colour, int horizontal, int vertical);

/// Fails when the picture is larger than the request allows: for decoders that take memory before they know all.
bool check_size(Job *job, int64_t width, int64_t height);

/// Writes rows of one plane, which lie side by side.
bool write_band(Job *job, int plane, int32_t row, int32_t count, const uint8_t *samples);

/// Writes one row of one plane.
bool write_row(Job *job, int plane, int32_t row, const uint8_t *samples);

/// Writes one row of a gray or RGB picture from interleaved samples, with alpha behind them when `has_alpha`, which
/// is composed over white.
bool write_pixels(Job *job, int32_t row, const uint8_t *pixels, bool has_alpha);

/// Makes the memfd end at `end`, behind the planes: room for rows that are not in their planes yet. They are given back
/// before blocks are written.
bool extend_samples(Job *job, int64_t end);
bool read_samples(Job *job, void *bytes, size_t count, int64_t offset);
bool write_samples(Job *job, const void *bytes, size_t count, int64_t offset);

/// Writes the block behind all planes.
bool write_icc(Job *job, const void *block, size_t count);
/// The same for EXIF, with "Exif\0\0" or without. What is no TIFF block is left out.
bool write_exif(Job *job, const uint8_t *block, size_t count);

/// Orientation in a TIFF block, 1 when it has none.
int exif_orientation(const uint8_t *block, size_t count);

// Colour.c

typedef struct RGBRow {
    const uint8_t *red;
    const uint8_t *green;
    const uint8_t *blue;
} RGBRow;

/// Writes one row of YCbCr with halved chroma across, or two of them with halved chroma down, too, of `rows` rows.
bool write_as_ycbcr(Job *job, int32_t row, const RGBRow *rgb, int rows);

/// Levels from 16 to 235 become 0 to 255.
void to_full_range(uint8_t *samples, size_t count);
/// The same for chroma, from 16 to 240.
void chroma_to_full_range(uint8_t *samples, size_t count);

/// What makes sRGB of CIE L*a*b*.
typedef struct LabSpace LabSpace;

/// `white`: x and y of the white of that L*a*b*, which becomes that of sRGB. free(3) takes it back; NULL when the job has
/// failed.
LabSpace *begin_lab(Job *job, const float *white);

/// `lightness` from 0 to 100, `red_green` and `yellow_blue` (a and b) around 0. Colours beyond sRGB become those at its edge.
void lab_to_rgb(const LabSpace *space, float lightness, float red_green, float yellow_blue, uint8_t *rgb);

/// Writes a profile for colours that are not sRGB and are only numbered (ITU-T H.273); none for 0, which is no number.
bool write_profile_of(Job *job, int primaries, int transfer);

/// Fails for the numbers of HDR: the levels of such a picture are not those of a JPEG.
bool require_sdr(Job *job, int transfer);

// NewHandler.cc

/// `handler` is called where C++ has no memory left, and does not return.
void call_without_memory(void (*handler)(void));

// Libraries.c

/// Loads what would be loaded with the first picture.
void prepare_libraries(void);

/// Names and versions, as members of a JSON object.
void print_libraries(void);

// Boxes.c, HEIFTiles.c

/// Tells how the primary picture of a HEIF file is to be turned once it is decoded. False when that is left to libheif.
bool heif_orientation(Job *job, int *orientation);

/// The tiles of a picture: side by side, each of this size.
typedef struct HEIFTiles {
    /// 0 where the primary picture is none of tiles, or its boxes are left to libheif.
    int64_t count;
    int64_t width;
    int64_t height;
} HEIFTiles;

/// Tells what the file says of its primary picture's tiles. False, and the job has failed, where they cannot lie side by
/// side, or leave a part of the picture out.
bool heif_tiles(Job *job, HEIFTiles *tiles);

/// Holds the parts of a HEIF file, and what it says of where its pictures lie, against its length, and tells where the last
/// part ends. False, and the job has failed, where the file ends before that.
bool heif_is_whole(Job *job);

// TIFFParts.c

/// The same of a TIFF file: its directories, what they refer to, and their strips and tiles.
bool tiff_is_whole(Job *job);

// Sandbox.c

typedef struct Sandbox {
    bool has_landlock;
    bool has_seccomp;
} Sandbox;

/// Gives up for good whatever the process does not need to decode. Returns 0, or an errno when a part failed that every
/// kernel has; a kernel without landlock or seccomp is no failure.
int enter_sandbox(Sandbox *sandbox);

/// Bounds the memory that is taken from now on, beside what the process had when it entered the sandbox.
bool limit_memory(int64_t bytes);

/// Tries in a sandbox what must not work there. Returns how many of them worked, and says so on standard output.
int try_sandbox(void);

#endif
