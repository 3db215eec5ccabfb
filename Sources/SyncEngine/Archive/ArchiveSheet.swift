import FoundationEssentials
package import SyncCore
package import SyncPages
package import SyncSystem

/// Makes the contact sheet of archived photos: what can be read with its picture, the rest with an empty frame.
package struct ArchiveSheet: Sendable {
    package struct Drawing: Sendable {
        package let sheet: ContactSheet
        /// How many photos can be read, and are of a kind of which no picture can be made.
        package let undrawn: Int
        /// Photos that can be read, and of which there is no picture all the same.
        package let failures: [(key: ObjectKey, reason: String)]
    }

    private static let side = 320
    private static let readsInFlight = 3
    private static let mostBytes = 64 << 20
    /// A PNG of one transparent pixel.
    private static let nothing =
        "data:image/png;base64,"
        + "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII="

    private let reader: ObjectReader
    private let maker: any SharedCopyMaker
    private let pool: BlockingPool

    /// - Parameter pool: a thread for each picture that is made at once.
    package init(store: any ObjectSource, maker: any SharedCopyMaker, pool: BlockingPool, time: TimeSource) {
        reader = ObjectReader(store: store, limit: Self.mostBytes, time: time)
        self.maker = maker
        self.pool = pool
    }

    /// - Parameters:
    ///   - profiles: names of profiles, for people.
    ///   - progress: how many pictures are made, on any thread.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, `CancellationError`.
    package func make(
        title: String, of memories: [ArchivedGalleryPhoto], profiles: [ByteString: String],
        progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Drawing {
        let done = Lock(0)
        let denied = DeniedObjects()
        let pictures = try await memories.concurrently(Self.readsInFlight) { memory in
            let picture = try await picture(of: memory, denied)
            progress(done.add())
            return picture
        }
        let photos = zip(memories, pictures).map { memory, picture in
            ContactSheet.Photo(
                image: picture.image, width: picture.width, height: picture.height,
                name: memory.title ?? memory.eventID, takenAt: memory.createdAt,
                profile: profiles[memory.place.profile.inBytes] ?? memory.place.profile, size: memory.size,
                storageClass: memory.storageClass.rawValue, badge: picture.badge)
        }
        return Drawing(
            sheet: ContactSheet(title: title, photos: photos), undrawn: pictures.count(where: \.isUndrawn),
            failures: zip(memories, pictures).compactMap { memory, picture in
                picture.problem.map { (memory.key, $0) }
            })
    }

    private struct Picture: Sendable {
        var image = ArchiveSheet.nothing
        var width = 3
        var height = 2
        var badge: String?
        var isUndrawn = false
        var problem: String?

        static let undrawn = Picture(badge: "no preview", isUndrawn: true)
    }

    private func picture(of memory: ArchivedGalleryPhoto, _ denied: DeniedObjects) async throws -> Picture {
        let badge = memory.status == .readable ? nil : memory.status.rawValue
        guard memory.isReadable else { return Picture(badge: badge) }
        if let type = memory.contentType, type.hasPrefix("image/"), !MediaType.isPicture(type) { return .undrawn }
        let bytes: [UInt8]
        switch try await denied.ask({ try await reader.read(memory.key) }) {
        case .success(let read): bytes = read
        // The store's rules have moved it since it was listed.
        case .failure(let error) where error.code == .archived:
            return Picture(badge: ArchivedGalleryPhoto.Status.archived.rawValue)
        case .failure(let error): return Picture(badge: "no preview", problem: "\(error)")
        }
        do {
            let copy = try await pool.run { [maker] in try maker.thumbnail(of: .bytes(bytes), side: Self.side) }
            guard case .reduced(let picture) = copy.content else {
                preconditionFailure("a thumbnail is made, and not taken as it is")
            }
            return Picture(
                image: "data:image/jpeg;base64," + Data(picture).base64EncodedString(), width: copy.width ?? 3,
                height: copy.height ?? 2, badge: badge)
        } catch let error as PhotoError where error.code == .notAPhoto || error.code == .unsupported {
            return .undrawn
        } catch let error as PhotoError {
            return Picture(badge: "no preview", problem: error.message)
        }
    }
}
