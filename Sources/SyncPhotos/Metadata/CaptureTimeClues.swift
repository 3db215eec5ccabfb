import FoundationEssentials
import SyncCore

/// What a file tells about when it was taken, in all the places in which that may stand.
struct CaptureTimeClues {
    var exif: ExifBlock.Summary?
    /// The XMP packet, UTF-8.
    var xmp: [UInt8] = []
    /// The IPTC record (IIM 4.2).
    var iptc: [UInt8] = []
    /// What a video tells with its offset.
    var video: CaptureTime?

    /// The first that a camera can have meant, as close to the shutter as possible: a position has the right moment and
    /// not the clock of the place, and the last change may be that of an editor.
    ///
    /// Several fields often tell one and the same clock, and only one of them its offset.
    func captureTime(at now: Date) -> CaptureTime? {
        let (original, created) = (xmpTime("exif:DateTimeOriginal"), xmpTime("xmp:CreateDate"))
        let published = xmpTime("photoshop:DateCreated")
        let times = [
            exif?.taken?.captured, original, exif?.digitized?.captured, published, iptcTime, video, created,
            exif?.position, exif?.changed?.captured,
        ]
        guard let time = times.lazy.compactMap(\.self).first(where: { $0.isPlausible(at: now) }) else { return nil }
        let others = [exif?.digitized?.captured, exif?.changed?.captured, original, published, created]
        return others.reduce(time) { $0.completed(by: $1) }
    }

    // MARK: XMP

    /// A property as an attribute or an element (XMP specification part 1, 7.4 and 7.9). Looked for by the names that all
    /// writers use, without a reader for XML: what is no date is none.
    private func xmpTime(_ property: String) -> CaptureTime? {
        let name = Array(property.utf8)
        var rest = xmp[...]
        while let start = rest.firstRange(of: name)?.upperBound {
            rest = xmp[start...]
            var value = rest.drop(while: Self.isBlank)
            guard let mark = value.popFirst() else { return nil }
            let ends: [UInt8]
            switch mark {
            case UInt8(ascii: "="):
                value = value.drop(while: Self.isBlank)
                guard let quote = value.popFirst(), [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(quote) else {
                    continue
                }
                ends = [quote]
            case UInt8(ascii: ">"): ends = [UInt8(ascii: "<")]
            default: continue
            }
            let text = value.prefix(40).prefix { !ends.contains($0) }
            if let time = CaptureTime(String(decoding: text, as: UTF8.self).filter { !$0.isNewline }) { return time }
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    // MARK: IPTC

    /// 2:55 (`20240615`) and 2:60 (`073000+0900`).
    private var iptcTime: CaptureTime? {
        guard let date = iptcText(55), date.utf8.count == 8 else { return nil }
        let day = "\(date.prefix(4))-\(date.dropFirst(4).prefix(2))-\(date.suffix(2))"
        guard let clock = iptcText(60), clock.utf8.count == 6 || clock.utf8.count == 11 else {
            return CaptureTime(day)
        }
        let (hour, minute) = (clock.prefix(2), clock.dropFirst(2).prefix(2))
        return CaptureTime("\(day)T\(hour):\(minute):\(clock.dropFirst(4))") ?? CaptureTime(day)
    }

    /// A data set of the application record, each `1C 02 number length length …`.
    private func iptcText(_ number: UInt8) -> String? {
        var rest = iptc[...]
        while rest.count >= 5, rest.first == 0x1C {
            let head = Array(rest.prefix(5))
            let length = Int(head[3]) << 8 | Int(head[4])
            // Lengths of lengths: pictures within the record, behind all that is looked for.
            guard length < 0x8000, rest.count >= 5 + length else { return nil }
            if head[1] == 2, head[2] == number {
                return String(decoding: rest.dropFirst(5).prefix(length), as: UTF8.self)
            }
            rest = rest.dropFirst(5 + length)
        }
        return nil
    }
}
