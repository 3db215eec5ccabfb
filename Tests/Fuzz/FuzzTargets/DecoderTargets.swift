import CSyncDecoder
import Glibc
import sync_agent_decoder

/// The decoders of `sync-agent-decoder`, without its sandbox.
enum DecoderTargets {
    /// Small, so that a picture that asks for much is refused and not decoded.
    private static let limits = (pixels: Int64(1 << 20), memory: Int64(64 << 20))
    private static let prepared: Void = prepare_libraries()

    /// Decoded within the limits: all that is told lies within the memfd, has the size that was told, and is the same each
    /// time; a failure has a reason that is the picture's.
    static func decode(_ bytes: [UInt8], by format: CSyncDecoder_Format) -> Bool {
        _ = prepared
        guard !bytes.isEmpty else { return false }
        let (reply, held) = answer(bytes, format)
        guard reply.status == CSYNC_DECODER_OK.rawValue else {
            requireReason(reply)
            return false
        }
        requireBounds(reply, count: UInt64(held.count), isRaw: format == CSYNC_DECODER_RAW)
        let (again, same) = answer(bytes, format)
        promise(again.status == reply.status && same == held, "one picture gives two")
        return true
    }

    /// What the encoder sets aside is counted, too.
    private static let memoryOfOriginals = Int64(256 << 20)

    /// A JPEG becomes the same JPEG XL each time. Of a damaged one libjxl 0.7 gives back another file now and then, or
    /// none: the agent compares.
    static func recompress(_ bytes: [UInt8]) -> Bool {
        guard let small = made(of: bytes, CSYNC_DECODER_JPEG_TO_JXL) else { return false }
        promise(made(of: bytes, CSYNC_DECODER_JPEG_TO_JXL) == small, "one file gives two")
        return made(of: small, CSYNC_DECODER_JXL_TO_JPEG) == bytes
    }

    /// What is called a JPEG file begins like one, and is the same each time.
    static func reconstruct(_ bytes: [UInt8]) -> Bool {
        guard let jpeg = made(of: bytes, CSYNC_DECODER_JXL_TO_JPEG) else { return false }
        promise(jpeg.starts(with: [0xFF, 0xD8]), "what comes back is no JPEG")
        promise(made(of: bytes, CSYNC_DECODER_JXL_TO_JPEG) == jpeg, "one file gives two")
        return true
    }

    private static func made(of bytes: [UInt8], _ format: CSyncDecoder_Format) -> [UInt8]? {
        guard !bytes.isEmpty else { return nil }
        let (reply, held) = answer(bytes, format, memory: memoryOfOriginals)
        guard reply.status == CSYNC_DECODER_OK.rawValue else {
            requireReason(reply)
            return nil
        }
        promise(reply.samples_bytes == UInt64(held.count) && !held.isEmpty, "a file of another size than was told")
        promise(reply.samples_offset == 0 && reply.width == 0 && reply.colour == 0, "a picture where a file is")
        return held
    }

    private static func answer(
        _ bytes: [UInt8], _ format: CSyncDecoder_Format, memory: Int64 = limits.memory
    ) -> (CSyncDecoder_Reply, [UInt8]) {
        let (picture, samples) = (descriptor("picture"), descriptor("samples"))
        defer {
            close(picture)
            close(samples)
        }
        promise(write(picture, bytes, bytes.count) == bytes.count, "no room for an input")
        var request = CSyncDecoder_Request()
        request.format = format.rawValue
        (request.pixels, request.memory_bytes) = (limits.pixels, memory)
        request.file_bytes = Int64(bytes.count)
        let reply = decode_picture(&request, picture, samples)
        var held = [UInt8](repeating: 0, count: Int(lseek(samples, 0, SEEK_END)))
        promise(pread(samples, &held, held.count, 0) == held.count, "samples cannot be read")
        return (reply, held)
    }

    private static func descriptor(_ name: String) -> Int32 {
        let name = "/sync-fuzz-\(getpid())-\(name)"
        let descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        promise(descriptor >= 0 && shm_unlink(name) == 0, "no memory for an input")
        return descriptor
    }

    private static func requireReason(_ reply: CSyncDecoder_Reply) {
        promise(reply.status <= CSYNC_DECODER_INTERNAL.rawValue, "a status that is none")
        promise(reply.status != CSYNC_DECODER_INTERNAL.rawValue, "a picture is called a mistake of the decoder")
        promise(reply.status != CSYNC_DECODER_READ_FAILED.rawValue, "a whole file could not be read")
        let words = withUnsafeBytes(of: reply.message) { $0.firstIndex(of: 0) }
        promise(words.map { $0 > 0 } ?? false, "a failure without words, or without their end")
        promise(reply.samples_bytes == 0 && reply.width == 0, "a failure has samples")
    }

    private static func requireBounds(_ reply: CSyncDecoder_Reply, count: UInt64, isRaw: Bool) {
        let (width, height) = (UInt64(max(reply.width, 0)), UInt64(max(reply.height, 0)))
        promise(width > 0 && height > 0 && width * height <= UInt64(limits.pixels), "a size that is not allowed")
        promise((1...8).contains(reply.orientation) && reply.pictures > 0, "an orientation that is none, or no picture")
        promise((reply.colour == 0) == isRaw, "a JPEG of what is no raw file, or samples of one")
        let (across, down) = (UInt64(max(reply.horizontal, 1)), UInt64(max(reply.vertical, 1)))
        promise(across <= 2 && down <= 2, "chroma of another size than whole or half")
        let chroma = ((width + across - 1) / across) * ((height + down - 1) / down)
        let expected = [reply.samples_bytes, width * height, width * height + 2 * chroma, 3 * width * height]
        promise(reply.colour < expected.count, "a colour that is none")
        promise(reply.samples_bytes == expected[Int(reply.colour)], "planes of another size than the picture's")
        let blocks = [
            (reply.samples_offset, reply.samples_bytes), (reply.icc_offset, reply.icc_bytes),
            (reply.exif_offset, reply.exif_bytes),
        ]
        promise(blocks.allSatisfy { $0 <= count && $1 <= count - $0 }, "a block that is not in the memfd")
    }
}
