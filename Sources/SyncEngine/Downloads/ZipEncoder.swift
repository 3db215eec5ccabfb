import FoundationEssentials
package import SyncCore
import SyncGzip

/// The bytes of a ZIP file, entry by entry, for who sends it while it is made (APPNOTE.TXT, 4.3): stored, not compressed,
/// with names in UTF-8 and the extended timestamp. Below the bounds at which the format needs ZIP64.
package struct ZipEncoder: Sendable {
    package static let mostEntries = 65_535
    /// Bytes of the whole.
    package static let mostBytes = Int64(UInt32.max)

    private static let version: UInt16 = 20
    private static let namesAreUTF8: UInt16 = 1 << 11
    private static let unix: UInt16 = 3 << 8
    private static let plainFile: UInt32 = 0o100644 << 16

    private let limit: Int64
    private var directory: [UInt8] = []
    private var names: Set<String> = []
    private var position: Int64 = 0

    /// - Parameter limit: bytes of the whole, at most ``mostBytes``.
    package init(limit: Int64 = Self.mostBytes) {
        self.limit = limit
    }

    package func hasRoom(for entry: ZipEntry) -> Bool {
        // Twice the name and what stands around it, and the end of the file.
        let around = Int64(directory.count + 2 * entry.name.utf8.count + 256)
        return names.count < Self.mostEntries && position + around + entry.size < limit
    }

    /// An entry with all its bytes.
    /// - Returns: `nil`, with nothing begun, where another entry has its name, or there is no room for it.
    package mutating func add(_ entry: ZipEntry, _ content: [UInt8]) -> [UInt8]? {
        precondition(entry.size == content.count, "an entry has the bytes that it says")
        return begin(entry, checksum: Checksum.crc32(content)).map { $0 + content }
    }

    /// What stands in front of the `entry.size` bytes that the caller adds.
    /// - Parameter checksum: the CRC-32 of these.
    /// - Returns: `nil`, with nothing begun, where another entry has its name, or there is no room for it.
    package mutating func begin(_ entry: ZipEntry, checksum: UInt32) -> [UInt8]? {
        guard hasRoom(for: entry), names.insert(entry.name).inserted else { return nil }
        let name = Array(entry.name.utf8)
        let shared = Self.shared(entry, name, checksum)
        let bytes = Self.little(0x0403_4B50 as UInt32) + shared + name + Self.timestamp(entry.modified)
        directory += Self.little(0x0201_4B50 as UInt32) + Self.little(Self.unix | Self.version) + shared
        // No comment, on the first disk, of no known kind.
        directory += Self.little(0 as UInt16) + Self.little(0 as UInt16) + Self.little(0 as UInt16)
        directory += Self.little(Self.plainFile) + Self.little(UInt32(position)) + name + Self.timestamp(entry.modified)
        position += Int64(bytes.count) + entry.size
        return bytes
    }

    /// What ends the file.
    package func end() -> [UInt8] {
        let count = Self.little(UInt16(names.count))
        return directory + Self.little(0x0605_4B50 as UInt32) + Self.little(0 as UInt32) + count + count
            + Self.little(UInt32(directory.count)) + Self.little(UInt32(position)) + Self.little(0 as UInt16)
    }

    /// What both headers of an entry have, from the version that is needed to the length of the extra field.
    private static func shared(_ entry: ZipEntry, _ name: [UInt8], _ checksum: UInt32) -> [UInt8] {
        let size = little(UInt32(entry.size))
        let (day, clock) = (CalendarDay(entry.modified), secondsOfDay(entry.modified))
        let time = UInt16(clock / 3_600) << 11 | UInt16(clock / 60 % 60) << 5 | UInt16(clock % 60 / 2)
        let date = UInt16(min(max(day.year - 1_980, 0), 127)) << 9 | UInt16(day.month) << 5 | UInt16(day.day)
        return little(version) + little(namesAreUTF8) + little(0 as UInt16) + little(time) + little(date)
            + little(checksum) + size + size + little(UInt16(name.count))
            + little(UInt16(timestamp(entry.modified).count))
    }

    private static func secondsOfDay(_ date: Date) -> Int {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down)) % 86_400
        return seconds < 0 ? seconds + 86_400 : seconds
    }

    /// Seconds since 1970, where the format can tell them.
    private static func timestamp(_ date: Date) -> [UInt8] {
        guard let seconds = Int32(exactly: date.timeIntervalSince1970.rounded(.down)) else { return [] }
        return Array("UT".utf8) + little(5 as UInt16) + [1] + little(UInt32(bitPattern: seconds))
    }

    private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
