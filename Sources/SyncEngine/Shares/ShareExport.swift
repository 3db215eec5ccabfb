import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncPages
package import SyncSystem
package import SystemPackage

/// Makes the page of a vacation as files that need neither a server nor a store: a folder, or a ZIP file.
///
/// Promises:
/// - What is in it is what others would see of a share: copies that tell nothing, small pictures, and the page.
/// - The destination gets its name when all of it is there and on the disk. Until then, and after any failure, nothing has the
///   name. What a killed process leaves is a hidden folder beside it, which the next export to that place clears.
/// - Nothing is replaced but an empty folder.
package struct ShareExport: Sendable {
    package struct Failure: Error, Hashable {
        package let path: FilePath
        package let reason: String
    }

    package struct Summary: Hashable, Sendable {
        package internal(set) var photos = 0
        package internal(set) var films = 0
        /// Of the copies.
        package internal(set) var bytes: Int64 = 0
        package internal(set) var failures: [Failure] = []
    }

    /// What is exported, and what is said of it.
    package struct Order: Sendable {
        package var items: [ShareProposal.Item]
        package var location: String
        package var startDate: CalendarDay
        package var endDate: CalendarDay
        package var sharedBy: String?
        package var quality: ShareQuality
        /// Whether the copies are called as the files are.
        package var tellsNames: Bool
        /// As ``SharePage/language``.
        package var language: PageLanguage

        package init(
            items: [ShareProposal.Item], of vacation: Vacation, sharedBy: String?, quality: ShareQuality,
            tellsNames: Bool, language: PageLanguage = .en
        ) {
            self.items = items
            (location, startDate, endDate) = (vacation.location, vacation.startDate, vacation.endDate)
            self.sharedBy = sharedBy
            self.quality = quality
            self.tellsNames = tellsNames
            self.language = language
        }
    }

    package static let page = "index.html"
    private static let photoFolder = "photos"
    private static let thumbnailFolder = "thumbnails"
    private static let atOnce = 3

    private let ledger: LedgerQueue
    private let work: SharedCopyWork
    private let policy: ReducePolicy
    private let stored: @Sendable () async throws -> any ObjectSource
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - recompressor: makes the file of an original that is stored as JPEG XL.
    ///   - stored: opens the store, which is asked for nothing but photos that are not on the disk.
    ///   - pool: a thread for each copy that is made at once.
    package init(
        ledger: LedgerQueue, reducer: any PhotoReducer, maker: any SharedCopyMaker,
        recompressor: (any OriginalRecompressor)?, policy: ReducePolicy, pool: BlockingPool, time: TimeSource,
        stored: @escaping @Sendable () async throws -> any ObjectSource
    ) {
        work = SharedCopyWork(reducer: reducer, maker: maker, recompressor: recompressor)
        self.ledger = ledger
        self.policy = policy
        self.stored = stored
        self.pool = pool
        self.time = time
    }

    /// - Parameters:
    ///   - destination: absolute.
    ///   - archive: of that name; `nil` for a folder.
    ///   - progress: how many photos were looked at by now, on any thread.
    /// - Throws: ``ShareError/nothing(_:)``, ``DownloadError``, ``ZipError``, `CancellationError`.
    package func run(
        _ order: Order, to destination: FilePath, into archive: (any ZipWriter)? = nil,
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> Summary {
        do {
            let folder = try await pool.run { try ExportFolder(for: destination) }
            let result = await Result { try await run(order, in: folder, archive, progress) }
            await pool.finish { folder.remove() }
            return try result.get()
        } catch let error as Errno {
            throw DownloadError(error, destination)
        }
    }

    private func run(
        _ order: Order, in folder: ExportFolder, _ archive: (any ZipWriter)?,
        _ progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Summary {
        let done = Lock(0)
        let outcomes = try await Array(order.items.enumerated()).concurrently(Self.atOnce) { number, item in
            let outcome = try await export(item, as: number, order.quality, in: folder)
            progress(done.add())
            return outcome
        }
        var (entries, summary) = ([Entry](), Summary())
        for outcome in outcomes {
            switch outcome {
            case .success(let entry): entries.append(entry)
            case .failure(let failure): summary.failures.append(failure)
            }
        }
        guard !entries.isEmpty else {
            throw ShareError.nothing(summary.failures.map { "\($0.path.string.escapingControls): \($0.reason)" })
        }
        let files = try Self.arrange(&entries, order)
        summary.photos = entries.count { $0.copy.film == nil }
        summary.films = entries.count - summary.photos
        summary.bytes = entries.reduce(0) { $0 + $1.copy.size }
        let (text, names) = (files.page, files.names)
        try await pool.run { [entries, time] in
            try folder.write(text, to: Self.page)
            if let archive {
                try Self.pack(folder, entries, names, into: archive, now: time.now())
            } else {
                try Self.name(folder, entries, names)
                try folder.place()
            }
        }
        return summary
    }

    // MARK: Copies

    /// A copy in the hidden folder, under its number, with a small picture of it.
    private struct Entry: Sendable {
        let number: Int
        let photo: VacationPhoto
        let copy: SharePhoto.Copy
        let takenAt: CaptureTime?

        var file: String { "\(number)" }
        var thumbnail: String { "\(number).small" }
    }

    private typealias Outcome = Result<Entry, Failure>

    /// - Throws: `Errno` about the destination; `CancellationError`.
    private func export(
        _ item: ShareProposal.Item, as number: Int, _ quality: ShareQuality, in folder: ExportFolder
    ) async throws -> Outcome {
        let photo = item.photo
        do {
            let copies = try await copies(of: item, quality)
            guard let width = copies.photo.copy.width, let height = copies.photo.copy.height else {
                return .failure(Failure(path: photo.path, reason: "its width and height cannot be read"))
            }
            let made = copies.photo.copy
            let entry = Entry(
                number: number, photo: photo,
                copy: SharePhoto.Copy(
                    sha256: made.digest.sha256, size: copies.photo.body.size, width: width, height: height,
                    film: FilmType(contentType: made.type.name), duration: made.duration,
                    hasThumbnail: copies.thumbnail != nil),
                takenAt: made.takenAt ?? photo.takenAt)
            try await pool.run {
                try folder.write(copies.photo.body, to: entry.file)
                if let thumbnail = copies.thumbnail { try folder.write(thumbnail.body, to: entry.thumbnail) }
            }
            return .success(entry)
        } catch let error as StoreError where error.code == .archived {
            return .failure(
                Failure(
                    path: photo.path, reason: "it is only in the archive: bring it back first with sync-agent restore"))
        } catch  where !(error is CancellationError || error is Errno) {
            return .failure(Failure(path: photo.path, reason: "\(error)"))
        }
    }

    private func copies(of item: ShareProposal.Item, _ quality: ShareQuality) async throws -> SharedCopyWork.Copies {
        let (photo, md5) = (item.photo, item.md5)
        let size: SharedSize = quality == .full ? .full(policy.limits) : .reduced(policy)
        if photo.state.isOnDisk {
            return try await pool.run { [work] in
                try work.copies(of: photo.path, md5: md5, stored: photo.object?.sha256, size)
            }
        }
        guard let object = photo.object else { throw PhotoError(.missing, "it is gone, and nothing is stored of it") }
        let reader = ObjectReader(store: try await stored(), limit: SharedCopyWork.mostBytes, time: time)
        if quality == .full, FilmType(contentType: object.contentType) == nil,
            let original = try await ledger({ try $0.original(of: object.key) }),
            let copies = try await work.copies(ofOriginal: original, md5: md5, size, reader, pool, now: time.now())
        {
            return copies
        }
        let bytes = try await reader.read(object.key)
        return try await pool.run { [work] in
            guard let film = FilmType(contentType: object.contentType) else {
                return try work.copies(of: .bytes(bytes), size)
            }
            return try work.filmCopies(of: bytes, as: film)
        }
    }

    // MARK: The page

    /// Puts the entries in their order: photos, then films, each as vacations are ordered.
    /// - Returns: the page, and the names of the copies.
    private static func arrange(_ entries: inout [Entry], _ order: Order) throws -> (page: String, names: [String]) {
        let offsets = CaptureOffsets(entries.compactMap(\.takenAt))
        func place(_ entry: Entry) -> VacationOrder {
            VacationOrder(takenAt: entry.takenAt, name: entry.photo.name, offsets: offsets)
        }
        let sorted = entries.sorted { place($0) < place($1) }
        entries = sorted.filter { $0.copy.film == nil } + sorted.filter { $0.copy.film != nil }
        let checked = try checked(entries, order)
        let (numbers, originals) = (MirrorName(checked), OriginalNames(checked))
        let names = checked.photos.map { (originals.name(of: $0) ?? numbers.name(of: $0)).string }
        var page = page(of: checked, names)
        page.language = order.language
        return (try page.html(), names)
    }

    /// Held against the rules of manifests: what they make of a place and of names is harmless on a disk, too.
    private static func checked(_ entries: [Entry], _ order: Order) throws -> CheckedShare {
        func name(_ photo: VacationPhoto) -> String? {
            order.tellsNames && photo.path.isText ? photo.path.lastComponent?.string : nil
        }
        var generator = SystemRandomNumberGenerator()
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        let shown = entries.enumerated().map { ($0, $1.copy, $1.takenAt, name($1.photo)) as ShareManifest.Entry }
        let manifest = ShareManifest(
            shareId: ShareID(using: &generator), locationName: ShareManifestRules.line(order.location),
            startDate: order.startDate, endDate: order.endDate, sharedBy: order.sharedBy.map(ShareManifestRules.line),
            expiresAt: now, updatedAt: now, photos: ShareManifest.photos(of: shown),
            films: ShareManifest.films(of: shown))
        return try ShareManifestRules(asked: nil).check(try manifest.encoded(), foundAt: nil)
    }

    private static func page(of checked: CheckedShare, _ names: [String]) -> SharePage {
        SharePage(of: checked) {
            names[$0.orderIndex]
        } link: {
            "\(photoFolder)/\(names[$0.orderIndex].uriEncoded())"
        }
    }

    // MARK: Files

    /// Where each file of the hidden folder belongs, the page left out.
    private static func places(_ entries: [Entry], _ names: [String]) -> [(file: String, place: String, entry: Entry)] {
        entries.enumerated().flatMap { index, entry in
            [(entry.file, "\(photoFolder)/\(names[index])", entry)]
                + (entry.copy.hasThumbnail ? [(entry.thumbnail, ShareKeys.thumbnailName(index), entry)] : [])
        }
    }

    private static func name(_ folder: ExportFolder, _ entries: [Entry], _ names: [String]) throws {
        for name in [photoFolder, thumbnailFolder] {
            try folder.held.appending(name).makeFolder(.readableFolder)
        }
        for (file, place, _) in places(entries, names) {
            try folder.held.appending(file).rename(to: folder.held.pushing(FilePath(place)))
        }
    }

    /// All in one folder, so that unpacking makes one.
    private static func pack(
        _ folder: ExportFolder, _ entries: [Entry], _ names: [String], into archive: any ZipWriter, now: Date
    ) throws {
        let top = folder.stem
        func add(_ file: String, _ place: String, _ modified: Date) throws {
            let source = folder.held.appending(file)
            let size = try FileStatus(at: source).stamp.size
            try archive.add(ZipEntry(name: "\(top)/\(place)", size: size, modified: modified), from: source)
        }
        try add(page, page, now)
        let offsets = CaptureOffsets(entries.compactMap(\.takenAt))
        for (file, place, entry) in places(entries, names) {
            try add(file, place, entry.takenAt.map { offsets.instant(of: $0, zone: .current) } ?? now)
        }
        try archive.finish()
    }
}
