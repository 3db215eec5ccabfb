import CSyncJPEG
import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// A JPEG whose header was read and held against the limits. It is decoded once.
struct JPEGReader: ~Copyable {
    private let handle: OpaquePointer
    let size: PixelSize
    /// Bytes that decoding takes whatever comes of it: the coefficients of all scans, or nothing to speak of.
    private let coefficientBytes: Int64
    /// What samples are read from.
    private let samples: MemoryFile?
    /// `nil` where memory is set aside already: one that waited for it while it has some would wait for ever.
    private let memory: DecodingBudget?

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

    /// - Parameters:
    ///   - bytes: a whole file. They stay where they are for as long as the reader.
    ///   - memory: `nil` when it is set aside already.
    init(
        reading bytes: UnsafeBufferPointer<UInt8>, limits: PhotoLimits, memory: DecodingBudget? = .ofProcess
    ) throws(PhotoError) {
        var limits = CSyncJPEG_Limits(limits)
        var failure = CSyncJPEG_Failure()
        try self.init(CSyncJPEG_openBytes(bytes.baseAddress, bytes.count, &limits, &failure), failure, memory: memory)
    }

    /// - Parameters:
    ///   - samples: of a picture that was decoded elsewhere, and for which memory is set aside.
    ///   - profile: the ICC profile of it; empty when there is none.
    init(
        reading samples: CSyncJPEG_Samples, in file: MemoryFile, profile: [UInt8], limits: PhotoLimits
    ) throws(PhotoError) {
        var limits = CSyncJPEG_Limits(limits)
        var failure = CSyncJPEG_Failure()
        let handle = profile.withUnsafeBufferPointer { profile in
            var samples = samples
            samples.icc = profile.isEmpty ? nil : profile.baseAddress
            samples.icc_count = profile.count
            return CSyncJPEG_openSamples(file.descriptor.rawValue, &samples, &limits, &failure)
        }
        try self.init(handle, failure, samples: file, memory: nil)
    }

    private init(
        _ handle: OpaquePointer?, _ failure: CSyncJPEG_Failure, samples: MemoryFile? = nil,
        memory: DecodingBudget? = .ofProcess
    ) throws(PhotoError) {
        guard let handle else { throw PhotoError(failure) }
        self.handle = handle
        self.samples = samples
        self.memory = memory
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

    /// Whether encoding anew, at the picture's size, is known not to make it smaller: its own encoder left out as much.
    /// Nothing is decoded for it.
    func isAsCoarse(as policy: ReducePolicy) -> Bool {
        CSyncJPEG_isAsCoarse(handle, JPEGReduction(policy: policy, orientation: nil).options.quality)
    }

    /// Decodes the picture to its end, and throws when it is damaged.
    /// - Returns: bytes from its first scan to its end marker.
    @discardableResult
    func requireWhole() throws(PhotoError) -> Int64 {
        var failure = CSyncJPEG_Failure()
        var bytes: Int64 = 0
        try setAside(coefficientBytes + Self.overhead) { () throws(PhotoError) in
            guard CSyncJPEG_check(handle, &bytes, &failure) == CSYNC_JPEG_OK else { throw PhotoError(failure) }
        }
        return bytes
    }

    /// Decodes the picture to its end and encodes it anew.
    /// - Parameter exif: written into the output as it is.
    func reduce(_ reduction: JPEGReduction, exif: ExifBlock?) throws(PhotoError) -> (bytes: [UInt8], size: PixelSize) {
        var options = reduction.options
        var output = CSyncJPEG_Output()
        var failure = CSyncJPEG_Failure()
        let block = exif?.bytes ?? []
        defer { CSyncJPEG_freeOutput(&output) }
        let size = reducedSize(reduction)
        let held = coefficientBytes + Self.overhead + Int64(size.width * size.height * Self.outputBytesPerPixel)
        try setAside(held) { () throws(PhotoError) in
            guard CSyncJPEG_reduce(handle, &options, block, block.count, &output, &failure) == CSYNC_JPEG_OK else {
                throw PhotoError(failure)
            }
        }
        let bytes = Array(UnsafeBufferPointer(start: output.bytes, count: output.count))
        return (bytes, PixelSize(width: Int(output.width), height: Int(output.height)))
    }

    private func setAside(_ bytes: Int64, _ decode: () throws(PhotoError) -> Void) throws(PhotoError) {
        guard let memory else { return try decode() }
        try memory.with(bytes, decode)
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

/// What the codec is asked for: a `ReducePolicy` in the codec's terms.
struct JPEGReduction {
    let options: CSyncJPEG_Options

    /// - Parameter orientation: of EXIF, 1 to 8; the pixels are turned by it.
    init(policy: ReducePolicy, orientation: Int?) {
        options = CSyncJPEG_Options(
            max_dimension: Int32(clamping: min(max(policy.maximumDimension, 1), 65_500)),
            quality: Int32(clamping: min(max(policy.quality, 1), 100)),
            orientation: Int32(clamping: orientation ?? 1),
            // IPTC names towns and streets.
            keep_iptc: !policy.stripLocation
        )
    }
}

/// Width and height in pixels.
struct PixelSize: Hashable {
    var width: Int
    var height: Int
}

extension PhotoError {
    /// What the codec's failure means for a photo; libjpeg's words are in brackets behind ours.
    init(_ failure: CSyncJPEG_Failure) {
        let words = String(array: failure.message)
        switch failure.status {
        case CSYNC_JPEG_TRUNCATED:
            self.init(.truncated, "the file ends before its picture does (\(words))")
        case CSYNC_JPEG_UNSUPPORTED:
            self.init(.unsupported, "a kind of JPEG that cannot be decoded (\(words))")
        case CSYNC_JPEG_OVER_LIMIT:
            self.init(.overLimit, "over the limits: \(words)")
        case CSYNC_JPEG_READ_FAILED:
            self.init(Errno(rawValue: failure.error_number), "read")
        case CSYNC_JPEG_OUT_OF_MEMORY:
            self.init(.outOfResources, words)
        default:
            self.init(.corrupt, "the picture's data is damaged (\(words))")
        }
    }
}

/// The memory of this process that pictures may be decoded in, all together: whoever decodes waits until there is room
/// for what the header says that it will take. Those who have waited longest come first, so that a large picture gets its
/// turn; one that wants all of it is decoded alone.
///
/// `@unchecked Sendable`: `mutex` guards `free` and `waiting`; the pointers never change.
final class DecodingBudget: @unchecked Sendable {
    /// 512 MiB: as much as the largest picture that is decoded at all (`PhotoLimits.memory`).
    static let ofProcess = DecodingBudget(bytes: PhotoLimits().memory)

    /// How often one that waits asks whether it shall stop, in nanoseconds.
    private static let patience = 100_000_000

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let total: Int64
    private var free: Int64
    /// Tickets, the oldest first.
    private var waiting: [UInt64] = []
    private var lastTicket: UInt64 = 0

    init(bytes: Int64) {
        total = bytes
        free = bytes
        pthread_mutex_init(mutex, nil)
        // Waiting is none of the wall clock's business, which people set.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` while so many bytes are set aside for it; more than there are count as all of them.
    /// - Throws: `.stopped` when the work of this thread is cancelled while it waits; what `body` throws.
    func with<Value>(_ bytes: Int64, _ body: () throws(PhotoError) -> Value) throws(PhotoError) -> Value {
        let share = try take(min(max(bytes, 0), total))
        defer { share.giveBack() }
        // A thread that is given up has its memory still; but the others must not wait for it until the process ends.
        PooledWork.onGivingUp { share.giveBack() }
        return try body()
    }

    private func take(_ bytes: Int64) throws(PhotoError) -> Share {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        lastTicket += 1
        let ticket = lastTicket
        waiting.append(ticket)
        defer {
            waiting.removeAll { $0 == ticket }
            // The next in the row may have room too.
            pthread_cond_broadcast(changed)
        }
        var hasWaited = false
        while waiting.first != ticket || free < bytes {
            hasWaited = true
            wait()
            try PhotoError.checkStopped()
        }
        if hasWaited { PooledWork.restartStep() }
        free -= bytes
        return Share(memory: self, bytes: bytes)
    }

    private func wait() {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_nsec += Self.patience
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        pthread_cond_timedwait(changed, mutex, &end)
    }

    fileprivate func giveBack(_ bytes: Int64) {
        pthread_mutex_lock(mutex)
        free += bytes
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }
}

/// What one decoder has of the memory. It is given back once, by whoever comes first.
private final class Share: Sendable {
    private let memory: DecodingBudget
    private let bytes: Lock<Int64>

    init(memory: DecodingBudget, bytes: Int64) {
        self.memory = memory
        self.bytes = Lock(bytes)
    }

    func giveBack() {
        let rest = bytes.withLock { bytes in
            defer { bytes = 0 }
            return bytes
        }
        if rest > 0 { memory.giveBack(rest) }
    }
}
