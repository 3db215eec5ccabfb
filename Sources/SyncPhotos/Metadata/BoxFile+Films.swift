import SyncCore

/// What a film tells of itself. What is damaged or strange tells less, and is no error.
struct FilmFacts: Hashable, Sendable {
    /// Pixels as it is seen: turned as its first track of pictures says.
    var width: Int?
    var height: Int?
    var duration: Duration?
    /// What the camera or a program calls the time of the recording.
    var takenAt: CaptureTime?
    /// Why players may not show it, in plain words.
    var damage: String?
}

/// Films of ISO 14496-12 and of the QuickTime File Format.
extension BoxFile {
    /// Tracks of a film; cameras make less than ten.
    private static let mostTracks = 64
    /// Boxes at the top level whose length is believed: one that ends behind the file's end was cut off.
    private static let parts: Set<String> = ["ftyp", "moov", "mdat", "moof", "free", "skip", "wide", "uuid", "meta"]

    func film() throws(PhotoError) -> FilmFacts {
        let parts = try boxes(0, bytes.size)
        let index = parts.first { $0.type == "moov" }
        var facts = FilmFacts()
        if let index { facts = try self.facts(of: index) }
        if try isCut(behind: parts.last?.end ?? 0) {
            facts.damage = "it was cut off: its file ends before its last part does"
        } else if index == nil {
            facts.damage = "it has no index (moov): its recording did not come to its end"
        }
        return facts
    }

    private func isCut(behind end: Int64) throws(PhotoError) -> Bool {
        guard let head = try bytes.read(end, 8), let type = head.text(at: 4), Self.parts.contains(type) else {
            return false
        }
        let size = head[..<4].bigEndian
        return size > 7 ? size > bytes.size - end : size == 1
    }

    /// - Parameter movie: `moov`.
    func facts(of movie: Box) throws(PhotoError) -> FilmFacts {
        var facts = FilmFacts()
        var (said, filmed, tracks): (CaptureTime?, CaptureTime?, Int) = (nil, nil, 0)
        var scale: Int64 = 0
        for box in try boxes(movie.start, movie.end) {
            switch box.type {
            case "mvhd":
                guard let header = try header(box) else { continue }
                scale = header.scale
                facts.duration = header.duration
            case "mvex":
                // Of a film in fragments the header tells no length.
                guard facts.duration == nil else { continue }
                facts.duration = try fragmentsDuration(box, scale: scale)
            case "trak":
                tracks += 1
                guard tracks <= Self.mostTracks, facts.width == nil, let size = try pictureSize(box) else { continue }
                (facts.width, facts.height) = (size.width, size.height)
            case "meta" where filmed == nil: filmed = try creationDate(box)
            case "udta":
                for note in try boxes(box.start, box.end) {
                    if note.type == "meta", filmed == nil { filmed = try creationDate(note) }
                    if said == nil { said = try day(note) }
                }
            default: break
            }
        }
        facts.takenAt = filmed ?? said
        return facts
    }

    // MARK: Header and tracks

    /// The time in it is UTC, and tells no day of the place.
    private func header(_ box: Box) throws(PhotoError) -> (scale: Int64, duration: Duration?)? {
        guard let version = try bytes.read(box.start, 1)?.first else { return nil }
        let wide: Int64 = version == 1 ? 8 : 4
        guard let body = try bytes.read(box.start + 4, 3 * wide + 4) else { return nil }
        let scale = body[Int(2 * wide)..<Int(2 * wide + 4)].bigEndian
        let units = Self.units(body.suffix(Int(wide)))
        return (scale, Self.duration(units, scale: scale))
    }

    private func fragmentsDuration(_ box: Box, scale: Int64) throws(PhotoError) -> Duration? {
        guard let head = try boxes(box.start, box.end).first(where: { $0.type == "mehd" }),
            let version = try bytes.read(head.start, 1)?.first,
            let body = try bytes.read(head.start + 4, version == 1 ? 8 : 4)
        else { return nil }
        return Self.duration(Self.units(body), scale: scale)
    }

    /// All bits are set where nothing is known.
    private static func units(_ bytes: some Collection<UInt8>) -> Int64? {
        bytes.allSatisfy { $0 == 0xFF } ? nil : bytes.bigEndian
    }

    /// `nil` for none, and for more than a film can last.
    private static func duration(_ units: Int64?, scale: Int64) -> Duration? {
        guard let units, units > 0, scale > 0 else { return nil }
        let milliseconds = (Double(units) / Double(scale) * 1_000).rounded()
        return (1..<1e11).contains(milliseconds) ? .milliseconds(Int64(milliseconds)) : nil
    }

    /// Of a track of pictures, in whole pixels; turned by its matrix (ISO 14496-12, 8.3.2).
    private func pictureSize(_ track: Box) throws(PhotoError) -> PixelSize? {
        let parts = try boxes(track.start, track.end)
        guard let media = parts.first(where: { $0.type == "mdia" }),
            let head = parts.first(where: { $0.type == "tkhd" }),
            let handler = try boxes(media.start, media.end).first(where: { $0.type == "hdlr" }),
            try bytes.read(handler.start + 8, 4)?.text == "vide",
            let version = try bytes.read(head.start, 1)?.first,
            let body = try bytes.read(head.start + (version == 1 ? 52 : 40), 44)
        else { return nil }
        func number(_ place: Int) -> Int { Int(body[4 * place..<4 * place + 4].bigEndian) }
        // 16.16, as all of them but the third column.
        let size = PixelSize(width: (number(9) + 0x8000) >> 16, height: (number(10) + 0x8000) >> 16)
        guard size.width > 0, size.height > 0 else { return nil }
        let isTurned = number(0) == 0 && number(4) == 0 && number(1) != 0 && number(3) != 0
        return isTurned ? PixelSize(width: size.height, height: size.width) : size
    }

    // MARK: Notes

    /// What Apple's cameras write, with the offset.
    private func creationDate(_ meta: Box) throws(PhotoError) -> CaptureTime? {
        let parts = try self.parts(of: meta)
        guard let keys = parts.first(where: { $0.type == "keys" }),
            let values = parts.first(where: { $0.type == "ilst" })
        else { return nil }
        // By length first: a table of thousands costs no read for each.
        let key = "com.apple.quicktime.creationdate"
        let names = try boxes(keys.start + 8, keys.end)
        var place: Int?
        for (index, name) in names.enumerated() where place == nil && name.size == key.utf8.count {
            if try bytes.read(name.start, name.size)?.text == key { place = index }
        }
        guard let index = place else { return nil }
        let number = String(String.UnicodeScalarView((index + 1).bigEndianBytes.map { Unicode.Scalar($0) }))
        guard let value = try boxes(values.start, values.end).first(where: { $0.type == number }) else { return nil }
        return try text(inDataOf: value).flatMap { CaptureTime($0) }
    }

    /// `©day`: in QuickTime behind its length and language, in MP4 as an item of a list.
    private func day(_ note: Box) throws(PhotoError) -> CaptureTime? {
        if note.type == "\u{A9}day" {
            guard let head = try bytes.read(note.start, 4),
                let text = try bytes.read(note.start + 4, min(head[..<2].bigEndian, note.size - 4))?.text
            else { return nil }
            return CaptureTime(text)
        }
        guard note.type == "meta", let list = try parts(of: note).first(where: { $0.type == "ilst" }) else {
            return nil
        }
        for item in try boxes(list.start, list.end) where item.type == "\u{A9}day" {
            if let text = try text(inDataOf: item), let time = CaptureTime(text) { return time }
        }
        return nil
    }

    /// A QuickTime atom has no version, a box of MP4 has.
    private func parts(of meta: Box) throws(PhotoError) -> [Box] {
        let isAtom = try bytes.read(meta.start + 4, 4)?.text == "hdlr"
        return try boxes(meta.start + (isAtom ? 0 : 4), meta.end)
    }

    private func text(inDataOf item: Box) throws(PhotoError) -> String? {
        guard let data = try boxes(item.start, item.end).first(where: { $0.type == "data" }) else { return nil }
        return try bytes.read(data.start + 8, data.size - 8)?.text
    }
}

extension PhotoFile {
    /// What is known of a film of this type; nothing, where its container is another one.
    borrowing func filmFacts(of type: MediaType, size: Int64) throws(PhotoError) -> FilmFacts {
        let bytes = MetadataBytes(self, size: size)
        switch type.name {
        case _ where FilmRules.types.contains(type.name): return try BoxFile(bytes).film()
        case "video/x-msvideo": return try AVIFile.film(bytes)
        default: return FilmFacts()
        }
    }
}

/// An AVI file, whose main header comes first (AVI RIFF File Reference).
private enum AVIFile {
    static func film(_ bytes: MetadataBytes) throws(PhotoError) -> FilmFacts {
        var facts = FilmFacts()
        let head = try bytes.head(72)
        guard head.count == 72, head.has("hdrl", at: 20), head.has("avih", at: 24),
            let perFrame = head.little(at: 32), let frames = head.little(at: 48),
            let width = head.little(at: 64), let height = head.little(at: 68)
        else { return facts }
        if width > 0, height > 0, width < 1 << 16, height < 1 << 16 { (facts.width, facts.height) = (width, height) }
        let milliseconds = Double(perFrame) * Double(frames) / 1_000
        if (1..<1e11).contains(milliseconds) { facts.duration = .milliseconds(Int64(milliseconds.rounded())) }
        return facts
    }
}
