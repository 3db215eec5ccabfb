import Foundation
import Logging
import SyncCore
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage

@testable import SyncEngine

/// A gallery on a real disk, from the files to the archive, with a store and a clock of the test's.
struct RetentionBench {
    static let text = "he said the secret word"
    static let title = "Feed the cat: secret title"

    let tree: TemporaryTree
    let memory: InMemoryStore
    let store: FaultyStore
    let start: Date
    let time: ManualTime
    let ledger: Ledger
    let folder: FolderRecord
    /// Files that some program has open for writing.
    var writing: Set<FilePath> = []
    /// Whether a cleanup looks at the gallery before it begins.
    var takesInFirst = true
    /// Whether an agent of another process sees to the gallery meanwhile.
    var isAgentAtWork = false
    /// A folder below the gallery that cannot be read.
    var unreadable: FilePath?
    /// Of a cleanup.
    var policy = ReducePolicy()
    /// For so long a file is as it is before a cleanup takes it for whole.
    var settle = Duration.zero
    /// Decode what is no JPEG.
    var pictures = PictureWorkers.none
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameters:
    ///   - start: by default a minute from now, so that files that are written now are a minute old.
    ///   - shared: what another machine has stored.
    init(start: Date? = nil, sharing shared: InMemoryStore? = nil) throws {
        tree = try TemporaryTree(in: .memory)
        try tree.makeFolder("gallery")
        memory = shared ?? InMemoryStore()
        store = FaultyStore(memory)
        let start = start ?? Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 60).rounded())
        self.start = start
        time = ManualTime(start: start)
        ledger = try Ledger.inMemory()
        folder = try ledger.register([
            WatchedFolder(kind: .gallery, path: tree.path("gallery"), profile: "grandma")
        ])[0]
    }

    /// The same gallery, with a store that is there.
    init(following other: RetentionBench) throws {
        (tree, start, time, ledger, folder) = (other.tree, other.start, other.time, other.ledger, other.folder)
        memory = other.memory
        store = FaultyStore(memory)
    }

    var gallery: FilePath { folder.path }

    // MARK: Events

    /// The JSON of an event with text.
    /// - Parameter photo: what stands for `photoData`; `nil` for none.
    func event(_ id: String, age days: Double = 91, profile: String = "p1", photo: String? = nil) -> String {
        let created = Int(start.timeIntervalSince1970 - days * 86_400)
        let photo = photo.map { #", "photoData": "\#($0)""# } ?? ""
        return """
            {"id": "\(id)", "userId": "u1", "profileId": "\(profile)", "eventType": "taskResponse",
             "createdAt": \(created), "taskTitle": "\(Self.title)", "text": "\(Self.text)"\(photo)}
            """
    }

    /// The event with its text deleted.
    func bare(_ id: String, age days: Double = 91) -> String {
        let created = Int(start.timeIntervalSince1970 - days * 86_400)
        return
            #"{"id": "\#(id)","userId": "u1","profileId": "p1","eventType": "taskResponse","createdAt": \#(created)}"#
    }

    /// A photo in base64; those with different numbers differ.
    ///
    /// Their stored copies are the same, unless they are made of different files.
    static func photo(_ number: Int, of file: String = "sampling-2x2.jpg") throws -> String {
        Data(try jpeg(number, of: file)).base64EncodedString()
    }

    static func fixture(_ file: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../PhotoFixtures")
        return Array(try Data(contentsOf: folder.appending(path: file)))
    }

    static func jpeg(_ number: Int, of file: String = "sampling-2x2.jpg") throws -> [UInt8] {
        let photo = try fixture(file)
        let text = Array("photo \(number)".utf8)
        return photo.prefix(2) + [0xFF, 0xFE, 0, UInt8(text.count + 2)] + text + photo.dropFirst(2)
    }

    func write(_ text: String, to name: String) throws {
        try tree.write(text, to: "gallery/\(name)")
    }

    func read(_ name: String) throws -> String {
        String(decoding: try tree.read("gallery/\(name)"), as: UTF8.self)
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: gallery.appending(name).string) }

    // MARK: The program

    private var scanner: any TreeScanner { QuietScanner(unreadable: unreadable, writing: writing) }

    /// Scans the gallery, and stores all that is due.
    func sync() async throws {
        let scan = FolderScan(ledger: ledger, scanner: scanner, settle: .zero)
        _ = try scan.run(folder, from: folder.path, at: time.now)
        try await PhotoPipeline(
            ledger: LedgerQueue(ledger), store: store,
            preparer: Preparer(
                ledger: ledger, scanner: scanner, reducer: PhotoFileReducer(pictures: pictures),
                planner: UploadPlanner(keys: try KeyLayout(user: "ana")), policy: ReducePolicy(), settle: .zero,
                now: time.source.now),
            pool: BlockingPool(name: "test", threads: 2), batchSize: 3, work: Wakeup(), time: time.source,
            logger: logger, observe: { _ in }
        ).run(.untilDone(patience: .zero))
    }

    func retention(
        calls: FileRewriteCalls = FileRewriteCalls(), keepsTitles: Bool = true, batchSize: Int = 500,
        moves: MergedPhotos? = nil
    ) throws -> RetentionPass {
        RetentionPass(
            folders: [gallery], ledger: LedgerQueue(ledger),
            store: store,
            scanner: scanner, reducer: PhotoFileReducer(pictures: pictures), phones: PlainNumbers(),
            rules: RetentionPass.Rules(
                keys: try KeyLayout(user: "ana"), policy: policy, batchSize: batchSize, settle: settle,
                keepsTitles: keepsTitles,
                phoneRegion: nil),
            pool: BlockingPool(name: "test", threads: 2), intake: takesInFirst ? intake : nil, calls: calls,
            moves: moves, time: time.source)
    }

    private var intake: EventIntake {
        let pool = BlockingPool(name: "intake", threads: 1)
        let pass = SyncPass(
            folders: [folder], ledger: ledger, scanner: scanner, reducer: PhotoFileReducer(),
            disks: DiskLanes(sharing: pool), settle: .zero, time: time.source)
        return EventIntake(
            pass: isAgentAtWork ? nil : pass, ledger: LedgerQueue(ledger), scanner: scanner,
            reducer: PhotoFileReducer(pictures: pictures), settle: settle, pool: pool, time: time.source)
    }

    @discardableResult
    func cleanUp(
        calls: FileRewriteCalls = FileRewriteCalls(), moves: MergedPhotos? = nil
    ) async throws -> RetentionSummary {
        try await retention(calls: calls, moves: moves).run(olderThan: 90)
    }

    /// Takes what begins with a `+` for a telephone number.
    private struct PlainNumbers: PhoneNumbers {
        func parse(_ text: String, region: String?) throws(InvalidPhoneNumber) -> PhoneNumber {
            guard text.hasPrefix("+") else { throw InvalidPhoneNumber(text, reason: "no plus") }
            return PhoneNumber(e164: "+" + text.filter(\.isNumber))
        }
    }

    // MARK: What came of it

    func key(_ id: String, profile: String = "p1", age days: Double = 91) throws -> ObjectKey {
        let created = Date(timeIntervalSince1970: start.timeIntervalSince1970 - days * 86_400)
        return try KeyLayout(user: "ana").archivedPhoto(profile: profile, month: CalendarDay(created), event: id)
    }

    /// Whether the archive holds a photo of the event that can be decoded.
    func isArchived(_ id: String, profile: String = "p1") throws -> Bool {
        guard let bytes = memory.content(try key(id, profile: profile)) else { return false }
        _ = try PhotoFileReducer().reduce(bytes, policy: ReducePolicy())
        return true
    }

    /// The files of the gallery in which a text stands.
    func files(with text: String = text) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: gallery.string).sorted()
        return names.filter { name in
            let bytes = FileManager.default.contents(atPath: gallery.pushing(FilePath(name)).string) ?? Data()
            return String(decoding: bytes, as: UTF8.self).contains(text)
        }
    }

    func leftovers() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: gallery.string).filter { $0.contains(".sync-agent-") }
    }
}

/// The disk as it is, but for what is open for writing. Other tests of this process start programs, and between fork and
/// exec each of those holds every file that is open for writing here.
private struct QuietScanner: TreeScanner {
    let unreadable: FilePath?
    let writing: Set<FilePath>
    private let scanner = FileTreeScanner()

    func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        try scanner.scan(root: root, from: start) { folder in
            guard folder.path != unreadable else {
                let error = ScanError(.failed, path: root.pushing(folder.path), message: "input/output error")
                return try visit(ScannedFolder(path: folder.path, files: [], error: error))
            }
            try visit(folder)
        }
    }

    func stamp(of file: FilePath) throws(ScanError) -> FileStamp? { try scanner.stamp(of: file) }

    func isBeingWritten(_ file: FilePath) -> Bool { writing.contains(file) }
}
