import FoundationEssentials
import SyncCore

extension PhotoFile {
    /// When it was taken; see ``CaptureTimeClues``.
    borrowing func captureTime(size: Int64, at now: Date) throws(PhotoError) -> CaptureTime? {
        let descriptor = descriptor
        let bytes = MetadataBytes(size: size) { range throws(PhotoError) in
            try PhotoFile.read(range, of: descriptor)
        }
        return try CaptureTimeReader(bytes: bytes).captureTime(at: now)
    }
}

extension PhotoSource {
    func captureTime(at now: Date) throws(PhotoError) -> CaptureTime? {
        switch self {
        case .bytes(let bytes): return try CaptureTimeReader(bytes: MetadataBytes(bytes)).captureTime(at: now)
        case .file(let path):
            let file = try PhotoFile(opening: path)
            return try file.captureTime(size: try file.stamp().size, at: now)
        }
    }
}

extension ExifBlock.Summary {
    /// With the capture time where the block has none of its own, and with its offset where only that is missing.
    func telling(_ time: CaptureTime?) -> ExifBlock.Summary {
        var summary = self
        if let taken {
            summary.taken = ExifTime(taken.captured.completed(by: time), fraction: taken.fraction)
        } else if digitized == nil, let time {
            summary.taken = ExifTime(time)
        }
        return summary
    }
}
