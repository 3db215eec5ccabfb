import SyncCore
import SystemPackage
import Testing

@Suite struct UploadPlannerTests {
    private let planner: UploadPlanner
    private let digest: ContentDigest

    init() throws {
        planner = UploadPlanner(keys: try KeyLayout(user: "ana"))
        digest = ContentDigest(
            md5: try #require(MD5Digest(bytes: Array(repeating: 1, count: 16))),
            sha256: try #require(SHA256Digest(bytes: Array(repeating: 2, count: 32))))
    }

    private func examined(_ type: MediaType) -> PhotoFacts {
        PhotoFacts(
            stamp: FileStamp(device: 1, inode: 2, size: 3, modified: 4), type: type, digest: digest)
    }

    @Test(
        arguments: [WatchedFolder.Kind.gallery, .vacations],
        [MediaType.jpeg, MediaType(.image, "image/heic"), MediaType(.video, "video/mp4")])
    func `photos and videos of galleries and vacations go to the pool under their MD5, and never replace anything`(
        kind: WatchedFolder.Kind, type: MediaType
    ) throws {
        let plan = try planner.plan(kind: kind, relativePath: "trip/a.jpg", examined: examined(type))
        let key = try ObjectKey("users/ana/photos/01010101010101010101010101010101.dat")
        #expect(plan == .store(PlannedUpload(key: key, condition: .ifAbsent, type: type)))
    }

    @Test(arguments: ["notes.txt", "event.json"])
    func `text in a gallery stays on the machine`(name: String) throws {
        let plan = try planner.plan(kind: .gallery, relativePath: FilePath(name), examined: examined(.unknown))
        guard case .skip = plan else {
            Issue.record("planned to store \(name): \(plan)")
            return
        }
    }

    @Test(
        arguments: [
            ("a1.jpg", MediaType.jpeg, MediaType.jpeg), ("projects.json", .unknown, .json),
            ("A1-metadata.JSON", .unknown, .json),
        ])
    func `a project's image and JSON keep their names and are replaced by newer ones`(
        name: String, found: MediaType, stored: MediaType
    ) throws {
        let plan = try planner.plan(kind: .projects, relativePath: FilePath(name), examined: examined(found))
        let key = try ObjectKey("users/ana/projects/\(name)")
        #expect(plan == .store(PlannedUpload(key: key, condition: .overwrite, type: stored)))
    }

    @Test(
        arguments: [
            ("notes.txt", MediaType.unknown, nil), ("clip.mp4", MediaType(.video, "video/mp4"), LeftOut.unfit),
        ])
    func `other files of a project are not stored, and a video among them is told to be left out`(
        name: String, type: MediaType, leftOut: LeftOut?
    ) throws {
        let plan = try planner.plan(kind: .projects, relativePath: FilePath(name), examined: examined(type))
        #expect(plan == .skip(reason: "a projects folder stores images and JSON only", leftOut))
    }
}
