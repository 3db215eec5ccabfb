import CSyncDecoder
package import SyncCore
import SyncDigest
import SyncSystem
package import SystemPackage

/// Recompresses JPEG files to JPEG XL by workers (``PictureWorkers``): about a fifth less, and each byte comes back.
package struct JPEGRecompressor: OriginalRecompressor {
    /// Bytes of a file, JPEG or JPEG XL.
    static let mostBytes: Int64 = 256 << 20
    /// What a worker may take, of which it touches half.
    private static let memory: Int64 = 2 << 30
    /// One file at a time in the whole process.
    private static let turn = DecodingBudget(bytes: memory)
    /// Bytes that are copied at once.
    private static let piece = 1 << 20

    let workers: PictureWorkers
    /// Bytes that a worker may take.
    let memory: Int64

    package func recompressed(
        _ file: FileDescriptor, size: Int64, sha256: SHA256Digest, into output: FileDescriptor
    ) throws(PhotoError) -> RecompressedOriginal {
        guard workers.program != nil else { return .asItIs(reason: Self.noWorker.message) }
        guard size <= Self.mostBytes else { return .asItIs(reason: "it is larger than 256 MiB") }
        do throws(PhotoError) {
            return try Self.turn.with(Self.memory) { () throws(PhotoError) in
                let small = try run(CSYNC_DECODER_JPEG_TO_JXL, file, size: size)
                guard small.size <= size / 100 * 95 + size % 100 * 95 / 100 else {
                    return .asItIs(reason: "as JPEG XL it would take \(small.size) of \(size) bytes")
                }
                guard try comesBack(small, size: size, sha256: sha256) else {
                    return .asItIs(reason: "it does not come back from JPEG XL byte for byte")
                }
                return .smaller(try copy(small, into: output), size: small.size)
            }
        } catch {
            guard [.unsupported, .overLimit, .truncated].contains(error.code) else { throw error }
            return .asItIs(reason: error.message)
        }
    }

    package func reconstruct(_ file: FileDescriptor, size: Int64, into output: FileDescriptor) throws(PhotoError) {
        guard workers.program != nil else { throw Self.noWorker }
        guard size <= Self.mostBytes else {
            throw PhotoError(.unsupported, "it is larger than what this program stores as JPEG XL")
        }
        try Self.turn.with(Self.memory) { () throws(PhotoError) in
            _ = try copy(run(CSYNC_DECODER_JXL_TO_JPEG, file, size: size), into: output)
        }
    }

    private func comesBack(_ small: Product, size: Int64, sha256: SHA256Digest) throws(PhotoError) -> Bool {
        do throws(PhotoError) {
            let back = try run(CSYNC_DECODER_JXL_TO_JPEG, small.memory.descriptor, size: small.size)
            guard back.size == size else { return false }
            return try copy(back, into: nil).sha256 == sha256
        } catch {
            // What libjxl has written itself, it cannot read, or dies of.
            guard error.code == .corrupt else { throw error }
            return false
        }
    }

    private static let noWorker = PhotoError(
        .unsupported,
        "\(PictureWorkers.programName), which makes JPEG XL of JPEG files and back, is not installed beside sync-agent")

    // MARK: Workers

    /// What a worker has made: the first bytes of its memory.
    private struct Product {
        let memory: MemoryFile
        let size: Int64
    }

    private func run(_ format: CSyncDecoder_Format, _ file: FileDescriptor, size: Int64) throws(PhotoError) -> Product {
        let product = try PhotoError.givingMemory { () throws(Errno) in try MemoryFile(named: "original") }
        let request = CSyncDecoder_Request(
            format: format.rawValue, reserved: 0, pixels: PhotoLimits().pixels, memory_bytes: memory, file_bytes: size)
        // The way back is gone by another process: one that a JPEG has made its own proves nothing.
        return try workers.ask(request, file, product, isLast: format == CSYNC_DECODER_JPEG_TO_JXL) { reply in
            if let failure = WorkerAnswer<Product>.failure(reply) { return failure }
            guard let held = try? product.size() else {
                return .failure(PhotoError(.outOfResources, "what its decoder made cannot be read"))
            }
            guard reply.samples_offset == 0, reply.samples_bytes > 0,
                reply.samples_bytes <= UInt64(min(max(held, 0), Self.mostBytes))
            else { return .nonsense("\(reply.samples_bytes) bytes of \(held)") }
            return .content(Product(memory: product, size: Int64(reply.samples_bytes)))
        }
    }

    /// Reads all bytes, and writes them where they are to go.
    private func copy(_ product: Product, into output: FileDescriptor?) throws(PhotoError) -> ContentDigest {
        var hasher = ContentHasher()
        var offset: Int64 = 0
        while offset < product.size {
            try PhotoError.checkStopped()
            do throws(Errno) {
                let bytes = try product.memory.bytes(from: offset, Int(min(Int64(Self.piece), product.size - offset)))
                // Whoever made it has made it shorter since.
                guard !bytes.isEmpty else { throw .ioError }
                hasher.update(bytes)
                if let output { _ = try Errno.only { try output.writeAll(toAbsoluteOffset: offset, bytes) } }
                offset += Int64(bytes.count)
            } catch {
                throw PhotoError(.outOfResources, "its bytes cannot be kept: \(error)")
            }
        }
        return hasher.finalize()
    }
}

extension JPEGRecompressor {
    package init(workers: PictureWorkers) {
        self.init(workers: workers, memory: Self.memory)
    }
}
