import SyncCore
import SyncDigest
import SystemPackage

extension PhotoReducer {
    /// All of a file of events.
    /// - Throws: ``PhotoError``; `.changed` when the file is not the one with this stamp.
    func eventText(of file: FilePath, stamp: FileStamp) throws(PhotoError) -> EventFileText {
        guard stamp.size <= GalleryEventFile.maximumSize else {
            let limit = GalleryEventFile.maximumSize >> 20
            throw PhotoError(.overLimit, "a JSON file of more than \(limit) MiB is not read for gallery events")
        }
        return EventFileText(try read(file, 0..<Int(stamp.size), stamp: stamp))
    }

    /// A piece of the text of a file of events. Of UTF-16 all of it has to be read: where a piece stands is not known.
    /// - Throws: as ``eventText(of:stamp:)``.
    func eventText(of file: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        let mark = try read(file, 0..<min(EventFileText.headSize, Int(stamp.size)), stamp: stamp)
        guard EventFileText.isUTF16(mark) else { return try read(file, range, stamp: stamp) }
        let text = try eventText(of: file, stamp: stamp)
        guard range.upperBound <= text.bytes.count else {
            throw PhotoError(.changed, "the file changed after it was read")
        }
        return Array(text.bytes[range])
    }
}

extension GalleryEvent {
    /// The MD5 of a photo that stands in the file itself.
    /// - Parameter text: of the file.
    func photoDigest(in text: [UInt8]) -> MD5Digest? {
        guard case .inline(let range) = photo else { return nil }
        return Base64Text(text[range]).decoded().map { ContentDigest(of: $0).md5 }
    }
}
