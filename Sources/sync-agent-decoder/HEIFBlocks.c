// What a HEIF file has beside its primary picture: EXIF, colour, and what the reply tells of others.

#include "HEIF.h"

#include <stdlib.h>
#include <string.h>

bool write_metadata(Job *job, const struct heif_image_handle *handle) {
    enum { MOST = 32 };
    heif_item_id ids[MOST];
    int count = heif_image_handle_get_list_of_metadata_block_IDs(handle, NULL, ids, MOST);
    for (int index = 0; index < count; index += 1) {
        const char *type = heif_image_handle_get_metadata_type(handle, ids[index]);
        if (strcmp(type, "mime") == 0) {
            const char *content = heif_image_handle_get_metadata_content_type(handle, ids[index]);
            if (strcmp(content, "application/rdf+xml") == 0) job->reply.dropped |= CSYNC_DECODER_DROPPED_XMP;
        }
        size_t bytes = heif_image_handle_get_metadata_size(handle, ids[index]);
        if (strcmp(type, "Exif") != 0 || job->reply.exif_bytes > 0 || bytes < 4 || bytes > LARGEST_BLOCK) continue;
        uint8_t *block = take_memory(job, (int64_t)bytes);
        if (block == NULL) return false;
        bool is_written = true;
        if (heif_image_handle_get_metadata(handle, ids[index], block).code == heif_error_Ok) {
            // How many bytes come before the TIFF header (ISO 23008-12, A.2.1).
            size_t skipped =
                (size_t)block[0] << 24 | (size_t)block[1] << 16 | (size_t)block[2] << 8 | (size_t)block[3];
            if (skipped <= bytes - 4) is_written = write_exif(job, block + 4 + skipped, bytes - 4 - skipped);
        }
        free(block);
        if (!is_written) return false;
    }
    return true;
}

void note_others(Job *job, struct heif_context *context, const struct heif_image_handle *handle) {
    int pictures = heif_context_get_number_of_top_level_images(context);
    if (pictures > 1) job->reply.pictures = (uint32_t)pictures;
    if (heif_image_handle_get_number_of_depth_images(handle) > 0) job->reply.dropped |= CSYNC_DECODER_DROPPED_AUXILIARY;
    enum { MOST = 16 };
    heif_item_id ids[MOST];
    int filter = LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA | LIBHEIF_AUX_IMAGE_FILTER_OMIT_DEPTH;
    int count = heif_image_handle_get_list_of_auxiliary_image_IDs(handle, filter, ids, MOST);
    for (int index = 0; index < count; index += 1) {
        struct heif_image_handle *other;
        if (heif_image_handle_get_auxiliary_image_handle(handle, ids[index], &other).code != heif_error_Ok) continue;
        const char *type = NULL;
        bool is_gain_map = heif_image_handle_get_auxiliary_type(other, &type).code == heif_error_Ok
            && strstr(type, "hdrgainmap") != NULL;
        job->reply.dropped |= is_gain_map ? CSYNC_DECODER_DROPPED_GAIN_MAP : CSYNC_DECODER_DROPPED_AUXILIARY;
        heif_image_handle_free_auxiliary_types(other, &type);
        heif_image_handle_release(other);
    }
}

struct heif_color_profile_nclx *numbered_colour(
    const struct heif_image_handle *handle, const struct heif_image *image) {
    struct heif_color_profile_nclx *colour = NULL;
    if (heif_image_handle_get_nclx_color_profile(handle, &colour).code == heif_error_Ok) return colour;
    heif_nclx_color_profile_free(colour);
    colour = NULL;
    if (image == NULL) return NULL;
    if (heif_image_get_nclx_color_profile(image, &colour).code == heif_error_Ok) return colour;
    heif_nclx_color_profile_free(colour);
    return NULL;
}

bool write_colour(
    Job *job, const struct heif_image_handle *handle, const struct heif_color_profile_nclx *colour) {
    if (colour != NULL && !require_sdr(job, (int)colour->transfer_characteristics)) return false;
    size_t count = heif_image_handle_get_raw_color_profile_size(handle);
    if (count > 0 && count <= LARGEST_BLOCK) {
        uint8_t *profile = take_memory(job, (int64_t)count);
        if (profile == NULL) return false;
        bool is_written = heif_image_handle_get_raw_color_profile(handle, profile).code != heif_error_Ok
            || write_icc(job, profile, count);
        free(profile);
        return is_written;
    }
    if (colour == NULL) return true;
    return write_profile_of(job, (int)colour->color_primaries, (int)colour->transfer_characteristics);
}
