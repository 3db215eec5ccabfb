import SyncCore
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct MirrorPlanTests {
    private static let text = """
        {"version":1,"shareId":"7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10","locationName":"Paris","startDate":"2024-06-15",
        "endDate":"2024-06-15","photoCount":1,"sharedBy":null,"expiresAt":"2026-02-01T00:00:00Z",
        "updatedAt":"2026-01-01T00:00:00Z","photos":[{"orderIndex":0,"width":4,"height":3,"size":9,"takenAt":null,
        "sha256":"\(String(repeating: "ab", count: 32))"}]}
        """
    private static let share = try? ShareManifestRules(asked: nil).check(Array(text.utf8), foundAt: nil)

    private func step(
        _ noted: String?, _ status: MirrorStatus, isForced: Bool = false,
        name: FilePath.Component = "001_old.jpg"
    ) throws -> MirrorStep {
        let share = try #require(Self.share)
        let note = noted.map { (name: name, sha256: $0) }
        return MirrorPlan(names: MirrorName(share), isForced: isForced)
            .step(for: share.photos[0], noted: note, status: status)
    }

    private static let sha256 = String(repeating: "ab", count: 32)

    @Test func `What was never here is fetched`() throws {
        #expect(try step(nil, .missing) == .download("001_2024-06-15_Paris.jpg", overwrites: false))
        #expect(try step(nil, .missing, isForced: true) == .download("001_2024-06-15_Paris.jpg", overwrites: true))
    }

    @Test func `What is here stays under the name that it has`() throws {
        #expect(try step(Self.sha256, .same) == .alreadyThere("001_old.jpg"))
        #expect(try step(Self.sha256, .same, isForced: true) == .alreadyThere("001_old.jpg"))
    }

    @Test func `What the person changed or deleted is kept, unless they say otherwise`() throws {
        #expect(try step(Self.sha256, .changed) == .kept("001_old.jpg", .changed))
        #expect(try step(Self.sha256, .missing) == .kept("001_old.jpg", .deleted))
        #expect(try step(Self.sha256, .taken) == .kept("001_old.jpg", .nameTaken))
        #expect(try step(Self.sha256, .unreadable(.ioError)) == .unreadable("001_old.jpg", .ioError))
        #expect(try step(Self.sha256, .changed, isForced: true) == .download("001_old.jpg", overwrites: true))
        #expect(try step(Self.sha256, .missing, isForced: true) == .download("001_old.jpg", overwrites: true))
    }

    @Test(arguments: [MirrorStatus.same, .changed, .missing])
    func `Another photo in the same place comes beside the first`(status: MirrorStatus) throws {
        let other = String(repeating: "cd", count: 32)
        #expect(try step(other, status) == .download("001_2024-06-15_Paris_abababab.jpg", overwrites: false))
    }

    @Test func `By a name that the share tells, nothing is replaced that was not put there`() throws {
        let text = Self.text.replacing("\"size\":9", with: "\"size\":9,\"name\":\"IMG_1.HEIC\"")
        let share = try ShareManifestRules(asked: nil).check(Array(text.utf8), foundAt: nil)
        let photo = share.photos[0]
        let plan = MirrorPlan(names: MirrorName(share), originals: OriginalNames(share), isForced: true)
        #expect(plan.step(for: photo, noted: nil, status: .missing) == .download("IMG_1.jpg", overwrites: false))
        let ours: (name: FilePath.Component, sha256: String) = ("IMG_1.jpg", Self.sha256)
        #expect(plan.step(for: photo, noted: ours, status: .changed) == .download("IMG_1.jpg", overwrites: true))
        let other: (name: FilePath.Component, sha256: String) = ("IMG_1.jpg", String(repeating: "cd", count: 32))
        #expect(
            plan.step(for: photo, noted: other, status: .same)
                == .download("IMG_1_001_abababab.jpg", overwrites: false))
        // And without the wish for names it stays what it is.
        let plain = MirrorPlan(names: MirrorName(share), isForced: false)
        #expect(plain.step(for: photo, noted: ours, status: .same) == .alreadyThere("IMG_1.jpg"))
        #expect(
            plain.step(for: photo, noted: nil, status: .missing)
                == .download("001_2024-06-15_Paris.jpg", overwrites: false))
    }

    @Test func `When a share tells no names any more, what is there keeps its own, and what was deleted stays so`()
        throws
    {
        #expect(try step(Self.sha256, .same, name: "IMG_1.jpg") == .alreadyThere("IMG_1.jpg"))
        #expect(try step(Self.sha256, .missing, name: "IMG_1.jpg") == .kept("IMG_1.jpg", .deleted))
        #expect(try step(Self.sha256, .changed, name: "IMG_1.jpg") == .kept("IMG_1.jpg", .changed))
        #expect(
            try step(Self.sha256, .changed, isForced: true, name: "IMG_1.jpg")
                == .download("001_2024-06-15_Paris.jpg", overwrites: true))
    }

    @Test(arguments: ["notes.txt", "002_old.jpg", "001_old.txt", "0001_old.jpg", ".bashrc"])
    func `A note of a name that this photo never had is none`(name: String) throws {
        let name = try #require(FilePath.Component(name))
        for status in [MirrorStatus.same, .changed, .missing] {
            let step = try step(Self.sha256, status, isForced: true, name: name)
            #expect(step == .download("001_2024-06-15_Paris.jpg", overwrites: true))
        }
    }
}
