import CSyncJPEG
import SyncCore
import SystemPackage

/// A JPEG whose header was read and held against the limits. It is decoded once.
struct JPEGReader: ~Copyable {
    private let handle: OpaquePointer
    let size: PixelSize
    /// Bytes that decoding takes whatever comes of it: the coefficients of all scans, or nothing to speak of.
    private let coefficientBytes: Int64

    /// Bytes for rows on their way, and the encoder.
    private static let overhead: Int64 = 8 << 20
    /// Bytes for each pixel of the output: it is held as a whole where it is turned, and once more as a JPEG.
    private static let outputBytesPerPixel = 2

    /// - Parameter descriptor: stays the caller's, and open for as long as the reader.
    init(reading descriptor: FileDescriptor, limits: PhotoLimits) throws(PhotoError) {
        var limits = CSyncJPEG_Limits(limits)
        var failure = CSyncJPEG_Failure()
        try self.init(CSyncJPEG_open(descriptor.rawValue, &limits, &failure), failure)
    }

    /// - Parameter bytes: a whole file. They stay where they are for as long as the reader.
    init(reading bytes: UnsafeBufferPointer<UInt8>, limits: PhotoLimits) throws(PhotoError) {
        var limits = CSyncJPEG_Limits(limits)
        var failure = CSyncJPEG_Failure()
        try self.init(CSyncJPEG_openBytes(bytes.baseAddress, bytes.count, &limits, &failure), failure)
    }

    private init(_ handle: OpaquePointer?, _ failure: CSyncJPEG_Failure) throws(PhotoError) {
        guard let handle else { throw PhotoError(failure) }
        self.handle = handle
        let info = CSyncJPEG_info(handle)
        size = PixelSize(width: Int(info.width), height: Int(info.height))
        coefficientBytes = info.coefficient_bytes
    }

    deinit {
        CSyncJPEG_close(handle)
    }

    /// A copy of the EXIF block, from its TIFF header on.
    var exif: ExifBlock? {
        var count = 0
        guard let bytes = CSyncJPEG_exif(handle, &count), count > 0 else { return nil }
        return ExifBlock(bytes: Array(UnsafeBufferPointer(start: bytes, count: count)))
    }

    func isWithin(_ dimension: Int) -> Bool {
        max(size.width, size.height) <= dimension
    }

    func reducedSize(_ reduction: JPEGReduction) -> PixelSize {
        var options = reduction.options
        var width: Int32 = 0
        var height: Int32 = 0
        CSyncJPEG_reducedSize(Int32(clamping: size.width), Int32(clamping: size.height), &options, &width, &height)
        return PixelSize(width: Int(width), height: Int(height))
    }

    /// Decodes the picture to its end, and throws when it is damaged.
    func requireWhole() throws(PhotoError) {
        // Small, for libjpeg then reads every coefficient and computes few samples.
        _ = try reduce(JPEGReduction(policy: ReducePolicy(maximumDimension: 64), orientation: nil), exif: nil)
    }

    /// Decodes the picture to its end and encodes it anew.
    /// - Parameter exif: written into the output as it is.
    func reduce(_ reduction: JPEGReduction, exif: ExifBlock?) throws(PhotoError) -> (bytes: [UInt8], size: PixelSize) {
        var options = reduction.options
        var output = CSyncJPEG_Output()
        var failure = CSyncJPEG_Failure()
        let block = exif?.bytes ?? []
        try DecodingMemory.ofProcess.with(memory(for: reducedSize(reduction))) { () throws(PhotoError) in
            guard CSyncJPEG_reduce(handle, &options, block, block.count, &output, &failure) == CSYNC_JPEG_OK else {
                throw PhotoError(failure)
            }
        }
        defer { CSyncJPEG_freeOutput(&output) }
        let bytes = Array(UnsafeBufferPointer(start: output.bytes, count: output.count))
        return (bytes, PixelSize(width: Int(output.width), height: Int(output.height)))
    }

    private func memory(for output: PixelSize) -> Int64 {
        coefficientBytes + Self.overhead + Int64(output.width * output.height * Self.outputBytesPerPixel)
    }
}

extension CSyncJPEG_Limits {
    /// Scans of a progressive file. Encoders write about ten; each costs a pass over the whole picture.
    private static let scanLimit: Int32 = 100

    fileprivate init(_ limits: PhotoLimits) {
        self.init(
            file_bytes: limits.fileSize, pixels: limits.pixels, memory_bytes: limits.memory, scans: Self.scanLimit)
    }
}
