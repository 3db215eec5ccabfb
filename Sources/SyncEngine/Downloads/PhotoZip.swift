package import FoundationEssentials
package import SyncCore
import SyncGzip
package import SyncSystem
package import SystemPackage

/// A ZIP file of photos, made while it is sent.
///
/// A file is read twice, in pieces: for its checksum, which stands in front of it, and when it is sent. An object is in
/// memory as a whole, and is read when what is before it has gone.
package actor PhotoZip {
    package enum Source: Sendable {
        case file(FilePath)
        /// Of so many bytes, as far as is known.
        case object(ObjectKey, size: Int64)
    }

    package struct Photo: Sendable {
        let source: Source
        let name: String
        let modified: Date

        package init(source: Source, name: String, modified: Date) {
            self.source = source
            self.name = name
            self.modified = modified
        }
    }

    package struct Bounds: Sendable {
        /// Bytes of one photo.
        var photo: Int
        /// Bytes of the whole.
        var whole: Int64

        package init(photo: Int, whole: Int64 = ZipEncoder.mostBytes) {
            self.photo = photo
            self.whole = whole
        }
    }

    /// Why a photo is left out.
    private struct Objection: Error {
        let reason: String

        static let noRoom = Objection(reason: "there is no room for it: save it in another file")
    }

    /// A file that is being sent.
    private struct Sending {
        let file: ZippedFile
        let name: String
        let checksum: UInt32
        var offset: Int64 = 0
        var sum: UInt32 = 0
    }

    private static let pieceLength = 256 << 10
    /// Bytes that photos leave to what tells which of them are missing.
    private static let listRoom: Int64 = 1 << 20

    private let store: any ObjectSource
    private let disk: BlockingPool
    private let bounds: Bounds
    private let now: Date
    private var photos: ArraySlice<Photo>
    private var encoder: ZipEncoder
    private var leftOut: [String]
    private var names = FreeNames<String>()
    /// What is sent next, and then.
    private var bytes: ArraySlice<UInt8> = []
    private var object: ArraySlice<UInt8> = []
    private var sending: Sending?
    private var isEnded = false

    /// - Parameter rest: what is left out, a line of words each, beside what turns out to be.
    package init(
        of photos: [Photo], from store: any ObjectSource, disk: BlockingPool, within bounds: Bounds,
        leavingOut rest: [String], now: Date
    ) {
        self.photos = photos[...]
        self.store = store
        self.disk = disk
        self.bounds = bounds
        self.now = now
        encoder = ZipEncoder(limit: bounds.whole)
        leftOut = rest
    }

    /// The next bytes; `nil` at the end. A photo that cannot be read is left out, and told of in a file at the end.
    package func next() async -> Data? {
        while bytes.isEmpty {
            if Task.isCancelled || isEnded { return nil }
            if !object.isEmpty {
                swap(&bytes, &object)
            } else if let sending {
                await goOn(with: sending)
            } else if let photo = photos.popFirst() {
                await begin(photo)
            } else {
                isEnded = true
                bytes = (listOfLeftOut() + encoder.end())[...]
            }
        }
        let piece = Data(bytes.prefix(Self.pieceLength))
        bytes = bytes.dropFirst(Self.pieceLength)
        // Else it would be kept until the next photo is read.
        if bytes.isEmpty { bytes = [] }
        return piece
    }

    private func begin(_ photo: Photo) async {
        do {
            switch photo.source {
            case .object(let key, let size):
                try requireRoom(for: photo, size)
                let content = try await store.bytes(of: key, limit: bounds.photo)
                bytes = try header(of: photo, Int64(content.count), Checksum.crc32(content))
                object = content[...]
            case .file(let path):
                let file = try await disk.run { [disk] in try ZippedFile(at: path, closedBy: disk) }
                try requireRoom(for: photo, file.size)
                let checksum = try await disk.run { try file.checksum(inPiecesOf: Self.pieceLength) }
                bytes = try header(of: photo, file.size, checksum)
                sending = Sending(file: file, name: photo.name, checksum: checksum)
            }
        } catch is CancellationError {
            isEnded = true
        } catch let objection as Objection {
            leave(out: photo.name, objection.reason)
        } catch {
            leave(out: photo.name, "it cannot be read now")
        }
    }

    /// Before anything of it is read.
    private func requireRoom(for photo: Photo, _ size: Int64) throws {
        guard size <= Int64(bounds.photo) else {
            throw Objection(reason: "it has more than \(bounds.photo >> 20) MiB: save it from its own page")
        }
        let entry = try ZipEntry(name: ZipEntry.plain(photo.name), size: size + Self.listRoom, modified: photo.modified)
        guard encoder.hasRoom(for: entry) else { throw Objection.noRoom }
    }

    /// Photos of several folders may have one name.
    private func header(of photo: Photo, _ size: Int64, _ checksum: UInt32) throws -> ArraySlice<UInt8> {
        let name = ZipEntry.plain(photo.name)
        let free = names.take(name) { FilePath(name).numbered($0).string }
        let entry = try ZipEntry(name: free, size: size, modified: photo.modified)
        guard let header = encoder.begin(entry, checksum: checksum) else { throw Objection.noRoom }
        return header[...]
    }

    /// Its length is told by now: what is gone of it is sent as zeros, and what unpacks it finds the checksum to be wrong.
    private func goOn(with sending: Sending) async {
        var sending = sending
        let (file, offset) = (sending.file, sending.offset)
        guard offset < file.size else {
            self.sending = nil
            if sending.sum != sending.checksum {
                leave(out: sending.name, "it has changed while it was sent, and is damaged in this file")
            }
            return
        }
        let length = Int(min(Int64(Self.pieceLength), file.size - offset))
        do {
            var piece = try await disk.run { (try? file.bytes(at: offset, atMost: length)) ?? [] }
            piece += [UInt8](repeating: 0, count: length - piece.count)
            sending.sum = Checksum.crc32(piece, after: sending.sum)
            sending.offset += Int64(length)
            bytes = piece[...]
            self.sending = sending
        } catch {
            // Nobody takes it any more.
            isEnded = true
        }
    }

    private func leave(out name: String, _ reason: String) {
        leftOut.append("\(name.escapingControls): \(reason)")
    }

    private func listOfLeftOut() -> [UInt8] {
        guard !leftOut.isEmpty else { return [] }
        let text = Array((["Not in this file:"] + leftOut).joined(separator: "\n").utf8) + [0x0A]
        guard let entry = try? ZipEntry(name: "left-out.txt", size: Int64(text.count), modified: now) else { return [] }
        return encoder.add(entry, text) ?? []
    }
}

/// A file that stays the same one while it is sent, whatever gets its name meanwhile.
private final class ZippedFile: Sendable {
    /// Bytes, as it was opened.
    let size: Int64
    private let descriptor: FileDescriptor
    private let disk: BlockingPool

    /// - Parameter disk: threads that close it: close(2) may wait for a disk, and whoever has it last is a task.
    init(at path: FilePath, closedBy disk: BlockingPool) throws {
        self.disk = disk
        // Without waiting, as the open of a pipe does.
        descriptor = try FileDescriptor.opened(path, .readOnly, [.noFollow, .nonBlocking, .closeOnExec])
        do {
            let status = try FileStatus(of: descriptor)
            guard status.kind == .file else { throw Errno.invalidArgument }
            size = status.stamp.size
        } catch {
            try? descriptor.close()
            throw error
        }
    }

    deinit {
        disk.add(givingUpAfter: SignOfLife.patience, onSilence: {}) { [descriptor] in try? descriptor.close() }
    }

    /// CRC-32 of all of it.
    /// - Throws: `Errno`; `.ioError` where it is shorter by now.
    func checksum(inPiecesOf length: Int) throws -> UInt32 {
        var (sum, offset) = (0 as UInt32, 0 as Int64)
        while offset < size {
            let piece = try bytes(at: offset, atMost: length)
            if piece.isEmpty { throw Errno.ioError }
            sum = Checksum.crc32(piece, after: sum)
            offset += Int64(piece.count)
        }
        return sum
    }

    /// - Returns: fewer bytes where the file has become shorter, and none behind its end as it was opened.
    func bytes(at offset: Int64, atMost length: Int) throws -> [UInt8] {
        try descriptor.bytes(atMost: Int(min(Int64(length), size - offset)), from: offset)
    }
}

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

/// Gives things of equal names names of their own: the first one keeps it, the others are numbered from 2 on.
///
/// The last number of each name is kept: ten thousand of one name take ten thousand steps.
package struct FreeNames<Name: Hashable & Sendable>: Sendable {
    private var taken: Set<Name> = []
    private var last: [Name: Int] = [:]

    package init() {}

    package func contains(_ name: Name) -> Bool { taken.contains(name) }

    /// - Parameter numbered: the name with a number.
    /// - Returns: a name that nothing had, and that nothing gets again.
    package mutating func take(_ name: Name, numbered: (Int) -> Name) -> Name {
        if taken.insert(name).inserted { return name }
        var (number, free) = (last[name] ?? 1, name)
        repeat {
            number += 1
            free = numbered(number)
        } while !taken.insert(free).inserted
        last[name] = number
        return free
    }
}
