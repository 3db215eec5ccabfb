import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage
import Testing

/// Shares of real photos in the embedded store, looked into byte by byte.
@Suite struct ShareOnDiskTests {
    private let tree: TemporaryTree
    private let time = ManualTime()
    private let store: LocalStore
    private let ledger: LedgerQueue
    private let folder: FilePath

    init() throws {
        tree = try TemporaryTree()
        let clock = time
        store = LocalStore(
            root: tree.path("store"), now: { clock.now }, restoreDuration: .seconds(5))
        ledger = LedgerQueue(try Ledger.inMemory())
        folder = try tree.makeFolder("trips/Paris")
        try tree.write(TellingPhotos.small, to: "trips/Paris/small.jpg")
        try tree.write(TellingPhotos.wide, to: "trips/Paris/wide.jpg")
        try tree.write("no photo", to: "trips/Paris/notes.jpg")
    }

    private var workshop: ShareWorkshop { ShareWorkshop(store: store, ledger: ledger, time: time) }

    private func share(_ quality: ShareQuality) async throws -> (share: ShareRecord, proposal: ShareProposal) {
        let order = try workshop.order(
            ["small.jpg", "notes.jpg", "wide.jpg"], in: folder, taken: "2024-06-16", quality: quality)
        let made = try await workshop.share(order)
        guard case .live(let share) = made.result else { throw NotLive() }
        return (share, made.proposal)
    }

    private struct NotLive: Error {}

    /// In both orders of bytes, the head of an EXIF entry that points to a position: tag 0x8825, type LONG, one of it
    /// (Exif 2.32, 4.6.3).
    private static let positions: [[UInt8]] = [
        [0x88, 0x25, 0, 4, 0, 0, 0, 1], [0x25, 0x88, 4, 0, 1, 0, 0, 0],
    ]

    @Test func `the photos of these tests tell a lot`() {
        for photo in [TellingPhotos.small, TellingPhotos.wide] {
            #expect(Self.positions.contains { photo.contains($0) })
            for text in ["SecretCam", "SecretSN4711", "SecretOwner", "SecretPlace", "SecretCity", "SecretComment"] {
                #expect(photo.contains(Array(text.utf8)), "\(text)")
            }
        }
    }

    @Test(arguments: ShareQuality.allCases)
    func `nothing private is in any object of a share`(quality: ShareQuality) async throws {
        let (share, proposal) = try await share(quality)
        #expect(proposal.skipped.map(\.photo.name) == ["notes.jpg"])
        let files = try tree.files(below: "store").filter { $0.contains("\(share.id)") }
        // Two photos, two thumbnails, page and manifest: each with its bytes and its record.
        #expect(files.count == 12, "\(files)")
        for file in files {
            let content = try tree.read("store/\(file)")
            for position in Self.positions { #expect(!content.contains(position), "a position in \(file)") }
            for text in [
                "SecretSN", "SecretOwner", "SecretUser", "SecretPlace", "SecretCity", "SecretComment", "SecretMethod",
            ] {
                #expect(!content.contains(Array(text.utf8)), "\(text) in \(file)")
            }
        }
    }

    @Test(arguments: [(ShareQuality.reduced, 2_048, 11), (.full, 2_200, 12)])
    func `the manifest tells what is there`(quality: ShareQuality, width: Int, height: Int) async throws {
        let (share, _) = try await share(quality)
        let manifest = try await store.bytes(of: share.keys.manifest)
        let checked = try ShareManifestRules(asked: share.id).check(manifest, foundAt: nil)
        #expect(checked.manifest.photos.map(\.width) == [48, width])
        #expect(checked.manifest.photos.map(\.height) == [32, height])
        #expect(
            checked.photos.map { $0.takenAt?.description } == [String](repeating: "2024-06-16T10:20:30", count: 2))
        for photo in checked.photos {
            let bytes = try await store.bytes(of: share.keys.photo(photo.orderIndex))
            #expect(Int64(bytes.count) == photo.size)
            #expect(ContentDigest(of: bytes).sha256 == photo.sha256)
        }
    }

    @Test func `a share that is revoked leaves no file`() async throws {
        let (share, _) = try await share(.reduced)
        try await workshop.remover.run(share.id, .revoked)
        #expect(try tree.files(below: "store").filter { $0.contains("shares/\(share.id)/") } == [])
        // The user's other machines are told.
        #expect(try tree.files(below: "store").contains { $0.contains("\(share.id).ended.json") })
    }
}
