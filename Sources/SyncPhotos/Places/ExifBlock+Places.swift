import SyncCore

extension ExifBlock {
    /// A longer value of a kept tag is none that a camera writes there.
    private static let longestValue = 256
    /// What an APP1 segment takes behind its "Exif\0\0".
    static let largest = 65_527

    /// A new block with what tells no place: ``ExifTags``.
    ///
    /// It is made of the values on that list and nothing else, so that no byte which no kept entry needs is in it.
    /// - Parameters:
    ///   - size: of the pixels that it will describe; `nil` leaves what it says of them.
    ///   - orientation: 1 to 8; `nil` leaves what it says.
    /// - Returns: `nil` when the block is none, or tells nothing else.
    func withoutPlace(size: PixelSize? = nil, orientation: Int? = nil) -> ExifBlock? {
        anew(size: size, orientation: orientation, keepsPlace: false)
    }

    /// The block for a copy where it is too long to be corrected in place: what the lists have, and the position.
    func shortened(size: PixelSize, orientation: Int) -> ExifBlock? {
        bytes.count > Self.largest ? anew(size: size, orientation: orientation, keepsPlace: true) : nil
    }

    private func anew(size: PixelSize?, orientation: Int?, keepsPlace: Bool) -> ExifBlock? {
        guard let block = TIFFBlock(bytes), let image = block.entries(at: block.firstDirectory) else { return nil }
        var directory = Directory(block)
        directory.keep(image, ExifTags.image)
        if keepsPlace, let entries = Self.directory(ExifTags.gpsDirectory, of: image, in: block) {
            var position = Directory(block)
            position.keep(entries, Set(0...31))
            directory.hold(position, as: ExifTags.gpsDirectory)
        }
        directory.set(ExifTags.orientation, orientation)
        directory.set(ExifTags.imageWidth, size?.width)
        directory.set(ExifTags.imageHeight, size?.height)
        if let entries = Self.directory(ExifTags.exifDirectory, of: image, in: block) {
            var exif = Directory(block)
            exif.keep(entries, ExifTags.exif)
            exif.set(ExifTags.pixelWidth, size?.width)
            exif.set(ExifTags.pixelHeight, size?.height)
            if let entries = Self.directory(ExifTags.interoperabilityDirectory, of: entries, in: block) {
                var interoperability = Directory(block)
                interoperability.keep(entries, ExifTags.interoperability)
                exif.hold(interoperability, as: ExifTags.interoperabilityDirectory)
            }
            directory.hold(exif, as: ExifTags.exifDirectory)
        }
        guard !directory.isEmpty else { return nil }
        let header = Array(bytes[..<4]) + block.encoded(TIFFBlock.headerSize, size: 4)
        return ExifBlock(bytes: header + directory.written.bytes(at: TIFFBlock.headerSize))
    }

    /// What is in the block and not in the one without its place.
    var partsThatTellPlaces: Set<DroppedPart> {
        guard let block = TIFFBlock(bytes), let image = block.entries(at: block.firstDirectory) else { return [] }
        let exif = Self.directory(ExifTags.exifDirectory, of: image, in: block) ?? []
        let tags = Set((image + exif).map(\.tag))
        var parts: Set<DroppedPart> = []
        if tags.contains(ExifTags.gpsDirectory) { parts.insert(.position) }
        if tags.contains(ExifTags.makerNote) { parts.insert(.makerNote) }
        if tags.contains(ExifTags.xmp) { parts.insert(.xmp) }
        if tags.contains(ExifTags.iptc) || tags.contains(ExifTags.photoshop) { parts.insert(.iptc) }
        return parts
    }

    /// The directory that an entry points at. The first such entry counts, so that the work is bounded.
    private static func directory(
        _ tag: Int, of entries: [TIFFBlock.Entry], in block: TIFFBlock
    ) -> [TIFFBlock.Entry]? {
        entries.first { $0.tag == tag }.flatMap(block.integer).flatMap(block.entries)
    }

    /// A directory of the new block, in the byte order of the old one.
    private struct Directory {
        private let block: TIFFBlock
        private var entries: [Int: TIFFDirectory.Value] = [:]

        init(_ block: TIFFBlock) {
            self.block = block
        }

        var isEmpty: Bool { entries.isEmpty }
        var written: TIFFDirectory { TIFFDirectory(entries, isBigEndian: block.isBigEndian) }

        mutating func keep(_ known: [TIFFBlock.Entry], _ tags: Set<Int>) {
            for entry in known where tags.contains(entry.tag) && entries[entry.tag] == nil {
                guard let value = entry.value, value.count <= ExifBlock.longestValue else { continue }
                entries[entry.tag] = .written(Array(block.bytes[value]), type: entry.type, count: entry.count)
            }
        }

        /// Changes an integer that is there.
        mutating func set(_ tag: Int, _ value: Int?) {
            guard let value, entries[tag] != nil else { return }
            entries[tag] = value < 65_536 ? .short(value) : .long(value)
        }

        mutating func hold(_ directory: Directory, as tag: Int) {
            if !directory.isEmpty { entries[tag] = .directory(directory.written) }
        }
    }
}

/// Tags of EXIF and TIFF by what they may tell (EXIF 2.32, TIFF 6.0).
///
/// What is kept is a list of what is known to tell no place: times, the camera and its lens, how the picture was taken,
/// colours, and who made it. Captions and keywords are not in it, for people write there where they were.
enum ExifTags {
    static let exifDirectory = 0x8769
    static let gpsDirectory = 0x8825
    static let interoperabilityDirectory = 0xA005
    static let makerNote = 0x927C
    static let orientation = 0x0112
    static let imageWidth = 0x0100
    static let imageHeight = 0x0101
    static let pixelWidth = 0xA002
    static let pixelHeight = 0xA003
    static let subDirectories = 0x014A
    static let xmp = 0x02BC
    static let iptc = 0x83BB
    static let photoshop = 0x8649

    /// Of the first directory of an EXIF block.
    static let image: Set<Int> = [
        imageWidth, imageHeight, 0x010F, 0x0110, orientation, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x013E,
        0x013F, 0x0211, 0x0213, 0x0214, 0x8298,
    ]

    /// Of the EXIF directory. Pressure and depth are not among them: they tell how high a place is.
    static let exif: Set<Int> = [
        0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x8833, 0x8834, 0x8835, 0x9000, 0x9003, 0x9004, 0x9010,
        0x9011, 0x9012, 0x9101, 0x9102, 0x9201, 0x9202, 0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208, 0x9209, 0x920A,
        0x9214, 0x9290, 0x9291, 0x9292, 0xA000, 0xA001, pixelWidth, pixelHeight, 0xA20B, 0xA20E, 0xA20F, 0xA210, 0xA214,
        0xA215, 0xA217, 0xA300, 0xA301, 0xA401, 0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA407, 0xA408, 0xA409, 0xA40A,
        0xA40C, 0xA430, 0xA431, 0xA432, 0xA433, 0xA434, 0xA435, 0xA460, 0xA461, 0xA500,
    ]

    /// Of the interoperability directory: which colours, in DCF's words.
    static let interoperability: Set<Int> = [0x0001, 0x0002]
}
