import SyncCore

/// A file of boxes (ISO 14496-12): HEIC, AVIF, JPEG XL, QuickTime and MP4.
struct BoxFile {
    let bytes: MetadataBytes

    init(_ bytes: MetadataBytes) {
        self.bytes = bytes
    }

    func clues() throws(PhotoError) -> CaptureTimeClues {
        var clues = CaptureTimeClues()
        for box in try boxes(0, bytes.size) {
            switch box.type {
            case "meta": try read(metadata: box, &clues)
            case "moov": clues.video = try facts(of: box).takenAt
            case "Exif": clues.exif = try exif(box.start, box.size)
            case "xml ": clues.xmp = try bytes.read(box.start, box.size) ?? []
            default: break
            }
        }
        return clues
    }

    func boxes(_ start: Int64, _ end: Int64) throws(PhotoError) -> [Box] {
        var (boxes, offset): ([Box], Int64) = ([], start)
        while boxes.count < CaptureTimeReader.mostParts, offset < end,
            let head = try bytes.read(offset, min(16, bytes.size - offset)),
            let box = Box(head, from: 0, at: Int(offset), before: Int(end))
        {
            boxes.append(box)
            offset = box.end
        }
        return boxes
    }

    // MARK: Pictures

    /// The items of a HEIF file: where each lies (iloc), and which of them are metadata (iinf).
    private func read(metadata box: Box, _ clues: inout CaptureTimeClues) throws(PhotoError) {
        let parts = try boxes(box.start + 4, box.end)
        guard let infos = parts.first(where: { $0.type == "iinf" }),
            let locations = parts.first(where: { $0.type == "iloc" }),
            let version = try bytes.read(infos.start, 1)?.first,
            let places = try bytes.read(locations.start, locations.size).map(ItemLocations.init)
        else { return }
        for info in try boxes(infos.start + (version == 0 ? 6 : 8), infos.end) where info.type == "infe" {
            guard let entry = try bytes.read(info.start, min(info.size, 64)), entry.count >= 12, entry[0] >= 2 else {
                continue
            }
            let wide = entry[0] > 2 ? 2 : 0
            let item = entry[4..<6 + wide].bigEndian
            guard let place = places.items[item] else { continue }
            if entry.has("Exif", at: 8 + wide) {
                clues.exif = try exif(place.lowerBound, Int64(place.count))
            } else if entry.has("mime", at: 8 + wide), entry.firstRange(ofBytes: Array("rdf+xml".utf8)) != nil {
                clues.xmp = try bytes.read(place.lowerBound, Int64(place.count)) ?? []
            }
        }
    }

    /// Four bytes tell where the block begins (ISO 23008-12, A.2.1).
    private func exif(_ start: Int64, _ size: Int64) throws(PhotoError) -> ExifBlock.Summary? {
        guard let body = try bytes.read(start, size), body.count > 4 else { return nil }
        let skipped = body[..<4].bigEndian
        guard skipped < body.count - 4 else { return nil }
        return CaptureTimeReader.exif(body.dropFirst(4 + Int(skipped)))
    }
}

/// Where the items of a HEIF file lie in it (ISO 14496-12, 8.11.3): those in one piece.
private struct ItemLocations {
    private(set) var items: [Int64: Range<Int64>] = [:]
    private var rest: ArraySlice<UInt8>

    init(_ box: [UInt8]) {
        rest = box[...]
        guard box.count >= 8 else { return }
        let version = box[0]
        rest = rest.dropFirst(4)
        let sizes = number(2)
        let (offsetSize, lengthSize) = (Int(sizes >> 12 & 15), Int(sizes >> 8 & 15))
        let (baseSize, indexSize) = (Int(sizes >> 4 & 15), version == 0 ? 0 : Int(sizes & 15))
        let count = number(version < 2 ? 2 : 4)
        for _ in 0..<min(count, 65_535) {
            guard !rest.isEmpty else { return }
            let item = number(version < 2 ? 2 : 4)
            let method = version == 0 ? 0 : number(2) & 15
            _ = number(2)
            let base = number(baseSize)
            let extents = number(2)
            for extent in 0..<extents {
                guard !rest.isEmpty else { return }
                _ = number(indexSize)
                let (offset, length) = (number(offsetSize), number(lengthSize))
                guard extent == 0, extents == 1, method == 0, length > 0, length < Int64(MetadataBytes.mostBytes),
                    base >= 0, offset >= 0, base < Int64.max / 4, offset < Int64.max / 4
                else { continue }
                items[item] = base + offset..<base + offset + length
            }
        }
    }

    private mutating func number(_ count: Int) -> Int64 {
        let value = rest.prefix(count).bigEndian
        rest = rest.dropFirst(count)
        return value
    }
}

/// A file's bytes, read here and there: metadata is looked for without reading the picture.
struct MetadataBytes {
    /// Of a block of metadata: more is not read.
    static let mostBytes = 1 << 20

    let size: Int64
    /// As many of these bytes as there are.
    let part: (Range<Int>) throws(PhotoError) -> [UInt8]

    init(_ bytes: [UInt8]) {
        size = Int64(bytes.count)
        part = { range throws(PhotoError) in Array(bytes[range.clamped(to: bytes.indices)]) }
    }

    /// - Parameter file: has to stay open for as long as these are read.
    init(_ file: borrowing PhotoFile, size: Int64) {
        let descriptor = file.descriptor
        self.size = size
        part = { range throws(PhotoError) in try PhotoFile.read(range, of: descriptor) }
    }

    /// So many bytes from an offset on, and at most ``mostBytes``; `nil` when not all of them are there.
    func read(_ offset: Int64, _ count: Int64) throws(PhotoError) -> [UInt8]? {
        guard offset >= 0, count >= 0, count <= Self.mostBytes, offset <= size - count else { return nil }
        let bytes = try part(Int(offset)..<Int(offset + count))
        return bytes.count == count ? bytes : nil
    }

    /// As many as there are.
    func head(_ count: Int) throws(PhotoError) -> [UInt8] {
        try part(0..<Int(min(Int64(count), size)))
    }
}

extension Collection<UInt8> {
    /// The bytes as a number, the first one the highest.
    var bigEndian: Int64 { reduce(0) { ($0 & 0xFF_FFFF_FFFF_FFFF) << 8 | Int64($1) } }
    var text: String { String(decoding: self, as: UTF8.self) }
}
