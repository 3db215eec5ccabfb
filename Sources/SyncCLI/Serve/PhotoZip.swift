import FoundationEssentials
import SyncCore
import SyncEngine
import SyncSystem
import SystemPackage

/// A ZIP file of photos, made while it is sent: one photo is in memory at a time, and is read when the one before it
/// has gone.
actor PhotoZip {
    enum Source: Sendable {
        case file(FilePath)
        case object(ObjectKey)
    }

    struct Photo: Sendable {
        let source: Source
        let name: String
        let modified: Date
    }

    private static let pieceLength = 256 << 10

    private let store: any ReadableStore
    private let disk: BlockingPool
    private var photos: ArraySlice<Photo>
    private var encoder = ZipEncoder()
    private var leftOut: [String] = []
    private var names: Set<String> = []
    private var bytes: ArraySlice<UInt8> = []
    private var isEnded = false
    private let now: Date

    /// - Parameter rest: what is left out, in words, beside what cannot be read.
    init(
        of photos: [Photo], from store: any ReadableStore, disk: BlockingPool, leavingOut rest: [String], now: Date
    ) {
        self.photos = photos[...]
        self.store = store
        self.disk = disk
        leftOut = rest
        self.now = now
    }

    /// The next bytes; `nil` at the end. A photo that cannot be read is left out, and told of in a file at the end.
    func next() async -> Data? {
        while bytes.isEmpty {
            if Task.isCancelled || isEnded { return nil }
            if let photo = photos.popFirst() {
                bytes = await entry(of: photo)[...]
            } else {
                isEnded = true
                bytes = (listOfLeftOut() + encoder.end())[...]
            }
        }
        let piece = Data(bytes.prefix(Self.pieceLength))
        bytes = bytes.dropFirst(Self.pieceLength)
        return piece
    }

    private func entry(of photo: Photo) async -> [UInt8] {
        if let content = try? await content(of: photo.source),
            let entry = try? ZipEntry(name: freeName(photo.name), size: Int64(content.count), modified: photo.modified),
            let bytes = encoder.add(entry, content)
        {
            return bytes
        }
        leftOut.append(photo.name)
        return []
    }

    private func content(of source: Source) async throws -> [UInt8] {
        switch source {
        case .object(let key): return try await store.bytes(of: key, limit: GallerySite.mostRead)
        case .file(let path):
            return try await disk.run {
                let file = try FileDescriptor.opened(path, .readOnly, [.noFollow, .closeOnExec])
                defer { try? file.close() }
                let bytes = try file.bytes(atMost: GallerySite.mostRead + 1)
                guard bytes.count <= GallerySite.mostRead else { throw Errno.fileTooLarge }
                return Array(bytes)
            }
        }
    }

    /// Photos of several folders may have one name.
    private func freeName(_ name: String) -> String {
        var (free, number) = (name, 1)
        while !names.insert(free).inserted {
            number += 1
            free = FilePath(name).numbered(number).string
        }
        return free
    }

    private func listOfLeftOut() -> [UInt8] {
        guard !leftOut.isEmpty else { return [] }
        let text =
            Array(
                (["Not in this file, as it could not be read or has no room in it:"] + leftOut).joined(separator: "\n")
                    .utf8) + [0x0A]
        guard let entry = try? ZipEntry(name: "left-out.txt", size: Int64(text.count), modified: now) else { return [] }
        return encoder.add(entry, text) ?? []
    }
}
