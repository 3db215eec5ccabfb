import FoundationEssentials
import SyncCore
import SyncDigest
import SyncGzip
import SyncSystem
import SystemPackage

/// Why a segment of the catalogue could not be read, or not whole.
package enum CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
    case damaged(String)
    /// It was written by a later version of the program.
    case newer(Int)

    package var description: String {
        switch self {
        case .damaged(let reason): "it is damaged (\(reason))"
        case .newer(let version):
            "it has version \(version) of the format, and this program reads up to "
                + "\(CatalogHeader.currentVersion): install the newer version"
        }
    }
}

/// A segment as it is made in a file of this machine, line by line: gzip of JSON lines.
final class CatalogFileWriter {
    private let file: FileDescriptor
    private let path: FilePath
    private let coding: CatalogCoding
    private let gzip: GzipWriter
    private var hasher = ContentHasher()
    private var waiting: [UInt8] = []
    private(set) var lines = 0

    private static let pieceLength = 64 << 10

    /// - Parameter path: of a file that is nobody else's. What is there is replaced.
    /// - Throws: `Errno`, ``GzipError``.
    init(at path: FilePath, coding: CatalogCoding) throws {
        gzip = try GzipWriter()
        file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate, .noFollow, .closeOnExec], permissions: [.ownerReadWrite])
        self.path = path
        self.coding = coding
    }

    deinit { try? file.close() }

    func write(_ line: CatalogLine) throws {
        waiting += try coding.data(line)
        lines += 1
        if waiting.count >= Self.pieceLength { try flush(isLast: false) }
    }

    /// - Returns: the file's bytes, for a store.
    func finish() throws -> ObjectBody {
        try write(.end(lines))
        try flush(isLast: true)
        let digest = hasher.finalize()
        hasher = ContentHasher()
        guard let stamp = FileStamp.ofFile(path) else { throw Errno.noSuchFileOrDirectory }
        return ObjectBody(file: path, stamp: stamp, digest: digest)
    }

    private func flush(isLast: Bool) throws {
        var pieces: [[UInt8]] = []
        try gzip.write(waiting, isLast: isLast) { pieces.append(Array($0)) }
        waiting.removeAll(keepingCapacity: true)
        for piece in pieces {
            hasher.update(piece)
            try file.writeAll(piece)
        }
    }
}

/// Takes a segment apart, line by line.
struct CatalogFileReader {
    private static let longestLine = 64 << 20

    private let segment: CatalogSegment
    private let user: String
    private let coding: CatalogCoding
    private let gzip: GzipReader
    private var line: [UInt8] = []
    private var count = 0
    private var isEnded = false
    /// The first line, once it is read.
    private(set) var header: CatalogHeader?
    /// Lines that are none.
    private(set) var badLines = 0

    /// - Parameters:
    ///   - segment: what it is by its key. One that says otherwise is not read: it would name photos of somebody else.
    ///   - keys: of its user.
    init(of segment: CatalogSegment, _ keys: KeyLayout) throws {
        self.segment = segment
        user = keys.user
        coding = CatalogCoding(keys: keys)
        gzip = try GzipReader()
    }

    /// - Parameter take: gets each line but the first and the last one, in order.
    /// - Throws: ``CatalogError``; what `take` throws.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ take: (CatalogLine) throws -> Void) throws {
        var pieces: [[UInt8]] = []
        var failure: CatalogError?
        do {
            try gzip.read(bytes) { pieces.append(Array($0)) }
        } catch GzipError.damaged {
            failure = .damaged("it cannot be unpacked")
        }
        for piece in pieces {
            var rest = piece[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line += rest[..<end]
                rest = rest[(end + 1)...]
                try finishLine(take)
            }
            line += rest
            guard line.count <= Self.longestLine else { throw CatalogError.damaged("a line of it has no end") }
        }
        if let failure { throw failure }
    }

    /// - Throws: ``CatalogError`` when it is not whole.
    func finish() throws {
        do {
            try gzip.finish()
        } catch {
            throw CatalogError.damaged("its end is missing")
        }
        guard header != nil, isEnded, line.isEmpty else { throw CatalogError.damaged("its end is missing") }
        if badLines > 0 { throw CatalogError.damaged("\(badLines) of its lines cannot be read") }
    }

    private mutating func finishLine(_ take: (CatalogLine) throws -> Void) throws {
        defer {
            line.removeAll(keepingCapacity: true)
            count += 1
        }
        let read = coding.line(Data(line))
        if header == nil {
            guard case .header(let first) = read else {
                throw CatalogError.damaged("it does not begin with the header of a catalogue")
            }
            guard first.catalog <= CatalogHeader.currentVersion else { throw CatalogError.newer(first.catalog) }
            guard first.user == user, first.machine == segment.machine, first.from == segment.from,
                first.to == segment.to
            else { throw CatalogError.damaged("it is another one than its name says") }
            header = first
            return
        }
        switch read {
        case .end(let lines):
            isEnded = true
            if lines != count { badLines += 1 }
        case let line? where !isEnded: try take(line)
        default: badLines += 1
        }
    }
}
