// The first frame of a GIF, by giflib. Those behind it are passed over, so that an end that comes too early is seen.

#include "Decoder.h"

#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

typedef struct File {
    Job *job;
    int64_t position;
    /// Index of the colour that is none, or -1.
    int transparent;
} File;

static int read_bytes(GifFileType *gif, GifByteType *bytes, int count) {
    File *file = gif->UserData;
    size_t got = read_picture(file->job, bytes, (size_t)count, file->position);
    file->position += (int64_t)got;
    return (int)got;
}

static bool gif_fails(Job *job, int code) {
    const char *words = GifErrorString(code);
    return fail_by_library(job, words == NULL ? "the GIF file is damaged" : words);
}

/// What is not covered by the frame, or has no colour, is white.
static bool write_line(
    File *file, GifFileType *gif, const ColorMapObject *colours, const GifPixelType *line, int32_t y) {
    Job *job = file->job;
    int32_t width = job->reply.width;
    memset(job->row, 255, (size_t)width * 3);
    for (int32_t x = 0; line != NULL && x < gif->Image.Width; x += 1) {
        int32_t at = x + gif->Image.Left;
        if (line[x] == file->transparent || line[x] >= colours->ColorCount || at >= width) continue;
        GifColorType colour = colours->Colors[line[x]];
        job->row[at] = colour.Red;
        job->row[width + at] = colour.Green;
        job->row[2 * width + at] = colour.Blue;
    }
    for (int plane = 0; plane < 3; plane += 1) {
        if (!write_row(job, plane, y, job->row + (ptrdiff_t)plane * width)) return false;
    }
    return true;
}

static bool write_frame(File *file, GifFileType *gif) {
    static const int first[] = {0, 4, 2, 1};
    static const int step[] = {8, 8, 4, 2};
    Job *job = file->job;
    const ColorMapObject *colours = gif->Image.ColorMap != NULL ? gif->Image.ColorMap : gif->SColorMap;
    if (colours == NULL) return fail(job, CSYNC_DECODER_CORRUPT, "the GIF file has no colours");
    // Some files tell a screen that is smaller than their frame, or none.
    int64_t right = gif->Image.Left + gif->Image.Width;
    int64_t bottom = gif->Image.Top + gif->Image.Height;
    int64_t width = gif->SWidth > right ? gif->SWidth : right;
    int64_t height = gif->SHeight > bottom ? gif->SHeight : bottom;
    if (gif->Image.Width < 1 || gif->Image.Height < 1) return fail(job, CSYNC_DECODER_CORRUPT, "an empty frame");
    if (!begin_samples(job, width, height, RGB, 1, 1)) return false;
    for (int32_t y = 0; y < height; y += 1) {
        bool is_covered = y >= gif->Image.Top && y < bottom;
        if (!is_covered && !write_line(file, gif, colours, NULL, y)) return false;
    }
    GifPixelType *line = take_memory(job, gif->Image.Width);
    if (line == NULL) return false;
    bool is_done = true;
    for (int pass = 0; pass < (gif->Image.Interlace ? 4 : 1) && is_done; pass += 1) {
        int from = gif->Image.Interlace ? first[pass] : 0;
        int by = gif->Image.Interlace ? step[pass] : 1;
        for (int row = from; row < gif->Image.Height && is_done; row += by) {
            is_done = DGifGetLine(gif, line, gif->Image.Width) == GIF_OK
                ? write_line(file, gif, colours, line, gif->Image.Top + row)
                : gif_fails(job, gif->Error);
        }
    }
    free(line);
    return is_done;
}

static bool pass_over(GifFileType *gif) {
    int size;
    GifByteType *block;
    if (DGifGetCode(gif, &size, &block) != GIF_OK) return false;
    while (block != NULL) {
        if (DGifGetCodeNext(gif, &block) != GIF_OK) return false;
    }
    return true;
}

static bool read_extension(File *file, GifFileType *gif, bool is_before_frame) {
    int kind;
    GifByteType *block;
    if (DGifGetExtension(gif, &kind, &block) != GIF_OK) return false;
    bool is_xmp = kind == APPLICATION_EXT_FUNC_CODE && block != NULL && block[0] == 11
        && memcmp(block + 1, "XMP DataXMP", 11) == 0;
    if (is_xmp) file->job->reply.dropped |= CSYNC_DECODER_DROPPED_XMP;
    while (block != NULL) {
        GraphicsControlBlock control;
        if (is_before_frame && kind == GRAPHICS_EXT_FUNC_CODE
            && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
            file->transparent = control.TransparentColor;
        }
        if (DGifGetExtensionNext(gif, &block) != GIF_OK) return false;
    }
    return true;
}

static bool read_file(File *file, GifFileType *gif) {
    Job *job = file->job;
    for (uint32_t frames = 0;;) {
        GifRecordType kind;
        if (DGifGetRecordType(gif, &kind) != GIF_OK) return gif_fails(job, gif->Error);
        if (kind == EXTENSION_RECORD_TYPE) {
            if (!read_extension(file, gif, frames == 0)) return gif_fails(job, gif->Error);
        } else if (kind == IMAGE_DESC_RECORD_TYPE) {
            if (DGifGetImageDesc(gif) != GIF_OK) return gif_fails(job, gif->Error);
            if (frames == 0 ? !write_frame(file, gif) : !pass_over(gif)) return gif_fails(job, gif->Error);
            frames += 1;
            job->reply.pictures = frames;
        } else if (kind == TERMINATE_RECORD_TYPE) {
            if (frames == 0) return fail(job, CSYNC_DECODER_CORRUPT, "no picture in the GIF file");
            job->reply.picture_end = (uint64_t)file->position;
            if (file->transparent >= 0) job->reply.dropped |= CSYNC_DECODER_DROPPED_ALPHA;
            return true;
        }
    }
}

bool decode_gif(Job *job) {
    File file = {.job = job, .transparent = NO_TRANSPARENT_COLOR};
    int code = 0;
    GifFileType *gif = DGifOpen(&file, read_bytes, &code);
    if (gif == NULL) return gif_fails(job, code);
    bool is_done = read_file(&file, gif);
    DGifCloseFile(gif, &code);
    return is_done;
}
