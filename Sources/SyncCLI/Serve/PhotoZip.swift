import FoundationEssentials
import SyncCore
import SyncEngine

/// A ZIP file of stored photos, made while it is sent: one photo is in memory at a time, and is read when the one before it
/// has gone.
actor PhotoZip {
    struct Photo: Sendable {
        let key: ObjectKey
        let name: String
        let modified: Date
    }

    private static let pieceLength = 256 << 10

    private let store: any ReadableStore
    private var photos: ArraySlice<Photo>
    private var encoder = ZipEncoder()
    private var leftOut: [String] = []
    private var bytes: ArraySlice<UInt8> = []
    private var isEnded = false
    private let now: Date

    /// - Parameter rest: what is left out, in words, beside what cannot be read.
    init(of photos: [Photo], from store: any ReadableStore, leavingOut rest: [String], now: Date) {
        self.photos = photos[...]
        self.store = store
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
        if let content = try? await store.bytes(of: photo.key, limit: GallerySite.mostRead),
            let entry = try? ZipEntry(name: photo.name, size: Int64(content.count), modified: photo.modified),
            let bytes = encoder.add(entry, content)
        {
            return bytes
        }
        leftOut.append(photo.name)
        return []
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
