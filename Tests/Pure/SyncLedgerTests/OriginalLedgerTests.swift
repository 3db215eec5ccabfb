import Foundation
import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// Which photos have their original kept, and what becomes of photos and originals when the store has lost one of them.
@Suite struct OriginalLedgerTests {
    private let world: World
    private let path: FilePath = "/pictures/gallery/a.jpg"
    private let prefix = "users/ana/originals/"

    init() throws {
        world = try World()
    }

    private func store() throws { try world.storeReduced() }

    private func candidates() throws -> [OriginalCandidate] { try world.originalCandidates() }

    private func original(of copy: ObjectRecord) throws -> ObjectRecord { try world.original(of: copy) }

    @discardableResult
    private func keepAll() throws -> [ObjectRecord] { try world.keepOriginals() }

    @Test func `a reduced photo waits for its original until that is noted, and again when its file changes`() throws {
        world.write(path, size: 2_000)
        try store()
        let first = try #require(try candidates().first)
        #expect(first.file == path && first.stamp.size == 2_000)
        var status = try world.ledger.originalsStatus(below: prefix)
        #expect(status.waiting == 1 && status.waitingBytes == 2_000 && status.kept == 0)
        try keepAll()
        status = try world.ledger.originalsStatus(below: prefix)
        #expect(status.waiting == 0 && status.kept == 1 && status.bytes == 900)
        #expect(try world.ledger.original(of: first.copy.key)?.encoding == .jxl)
        world.write(path, size: 3_000)
        try store()
        #expect(try candidates().map(\.stamp.size) == [3_000])
        #expect(try world.ledger.check() == [])
    }

    @Test func `what is stored as it is, and an image of a project, need none`() throws {
        world.write(path)
        world.write("/pictures/projects/p1.jpg")
        try world.scan()
        // Stored with the SHA-256 of the file.
        try world.storeAll()
        #expect(try candidates() == [])
        #expect(try world.ledger.originalsStatus(below: prefix).waiting == 0)
        #expect(try world.state(path) == .uploaded)
    }

    @Test func `a page tells where the next one begins`() throws {
        for number in 0..<5 { world.write(FilePath("/pictures/gallery/\(number).jpg")) }
        try store()
        let first = try world.ledger.photosWithoutOriginal(after: 0, limit: 3)
        let rest = try world.ledger.photosWithoutOriginal(after: try #require(first.last), limit: 3)
        #expect(first.candidates.count == 3 && rest.candidates.count == 2 && rest.last == nil)
        #expect(Set(first.candidates + rest.candidates).count == 5)
    }

    @Test func `an original that is gone is kept again where the file is`() throws {
        world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        let known = try #require(try world.ledger.object(kept.key))
        let count = try world.ledger.markBroken([BrokenObject(known, .missing)], at: world.now)
        #expect(count.objects == 1 && count.pending == 0 && count.lost == 0)
        #expect(try world.state(path) == .uploaded)
        #expect(try candidates().count == 1)
        try keepAll()
        #expect(try world.ledger.object(kept.key)?.problem == nil)
        #expect(try candidates() == [])
    }

    @Test(arguments: [true, false])
    func `a damaged original goes with its photo, and so does what is left of a lost one`(isCopyWhole: Bool) throws {
        world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        let copy = try #require(try world.status(path)?.object)
        world.remove(path)
        try world.scan()
        let original = try #require(try world.ledger.object(kept.key))
        let broken = isCopyWhole ? [original] : [original, copy]
        try world.ledger.markBroken(
            broken.map { BrokenObject($0, .damaged("its bytes are others")) }, at: world.now)
        let photo = try #require(try world.status(path))
        #expect(photo.state == (isCopyWhole ? .missing : .lost))
        #expect(try world.ledger.beginForget([(photo.id, photo.state)], at: world.now) == [photo.id])
        #expect(try Set(world.ledger.openDeletions().map(\.key)) == [copy.key, kept.key])
        #expect(try world.ledger.overview().broken == 0)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a damaged original is told until the last photo of its copy is forgotten, and goes then`() throws {
        let other: FilePath = "/pictures/gallery/b.jpg"
        // A hard link: two photos of one content.
        world.put(world.write(path), at: other)
        try store()
        let candidate = try #require(try candidates().first)
        let kept = try original(of: candidate.copy)
        let upload = try #require(try world.ledger.beginOriginal(kept.key, of: candidate))
        #expect(try world.ledger.noteOriginal(kept, of: candidate, upload))
        let copy = try #require(try world.status(path)?.object)
        for file in [path, other] { world.remove(file) }
        try world.scan()
        let known = try #require(try world.ledger.object(kept.key))
        try world.ledger.markBroken([BrokenObject(known, .damaged("its bytes are others"))], at: world.now)
        let photos = try [path, other].compactMap { try world.status($0) }
        try #require(photos.count == 2)
        #expect(photos.map(\.object?.key) == [copy.key, copy.key])
        #expect(try world.ledger.beginForget([(photos[0].id, .missing)], at: world.now) == [photos[0].id])
        #expect(try world.ledger.overview().broken == 1 && world.ledger.openDeletions().isEmpty)
        #expect(try world.ledger.beginForget([(photos[1].id, .missing)], at: world.now) == [photos[1].id])
        #expect(try Set(world.ledger.openDeletions().map(\.key)) == [copy.key, kept.key])
        #expect(try world.ledger.overview().broken == 0)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a broken original whose file is gone can be forgotten, and the copy stays`() throws {
        world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        let known = try #require(try world.ledger.object(kept.key))
        #expect(try world.ledger.lostOriginal(kept.key) == nil)
        try world.ledger.markBroken([BrokenObject(known, .missing)], at: world.now)
        // Its file brings it back.
        #expect(try world.ledger.lostOriginal(kept.key) == nil)
        world.remove(path)
        try world.scan()
        #expect(try world.ledger.lostOriginal(kept.key)?.key == kept.key)
        #expect(try world.ledger.forget(photos: [], objects: [kept.key]) == 1)
        #expect(try world.ledger.object(kept.key) == nil && world.ledger.overview().broken == 0)
        // The store has nothing to delete.
        #expect(try world.ledger.openDeletions().isEmpty)
        #expect(try world.state(path) == .missing)
        #expect(try world.status(path)?.object?.problem == nil)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `a damaged original that is forgotten is deleted in the store where its copy is whole`(isWhole: Bool) throws {
        world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        let copy = try #require(try world.status(path)?.object)
        world.remove(path)
        try world.scan()
        let known = try #require(try world.ledger.object(kept.key))
        try world.ledger.markBroken([BrokenObject(known, .damaged("its bytes are others"))], at: world.now)
        if !isWhole { try world.ledger.markBroken([BrokenObject(copy, .missing)], at: world.now) }
        #expect(try world.ledger.forget(photos: [], objects: [kept.key], at: world.now) == 1)
        #expect(try world.ledger.object(kept.key) == nil)
        #expect(try world.ledger.object(copy.key) != nil)
        // Of what is lost altogether nobody has asked whether another machine needs it.
        #expect(try world.ledger.openDeletions().map(\.key) == (isWhole ? [kept.key] : []))
        #expect(try world.ledger.check() == [])
    }

    @Test func `a photo is lost only when both its copy and its original are`() throws {
        world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        let copy = try #require(try world.status(path)?.object)
        world.remove(path)
        try world.scan()
        try world.ledger.markBroken([BrokenObject(copy, .missing)], at: world.now)
        #expect(try world.state(path) == .missing)
        let known = try #require(try world.ledger.object(kept.key))
        let count = try world.ledger.markBroken([BrokenObject(known, .missing)], at: world.now)
        #expect(count.lost == 1)
        #expect(try world.state(path) == .lost)
        var proven = try #require(try world.ledger.object(kept.key))
        proven.etag = "tag"
        try world.ledger.noteProof(proven, isRead: true, at: world.now)
        #expect(try world.state(path) == .missing)
        #expect(try world.ledger.check() == [])
    }

    @Test func `an original has the names of its photo, and goes when the last of them is forgotten`() throws {
        let stamp = world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        #expect(try world.ledger.photoPaths(of: kept.key, limit: 9) == [path])
        #expect(try world.ledger.anyPhotoPaths(of: kept.key, limit: 9) == [path])
        world.remove(path)
        try world.scan()
        let photo = try #require(try world.status(path))
        let objects = try world.ledger.objectsToForget([photo.id])
        #expect(objects.map(\.record.key) == [try World.key(of: stamp), kept.key])
        #expect(objects.allSatisfy { $0.references.isEmpty })
        #expect(try world.ledger.beginForget([(photo.id, .missing)], at: world.now) == [photo.id])
        #expect(Set(try world.ledger.openDeletions().map(\.key)) == Set(objects.map(\.record.key)))
        #expect(try world.ledger.check() == [])
    }

    @Test func `what another machine still names keeps copy and original`() throws {
        let stamp = world.write(path)
        try store()
        try keepAll()
        world.remove(path)
        try world.scan()
        let photo = try #require(try world.status(path))
        _ = try world.ledger.beginForget([(photo.id, .missing)], keeping: [try World.key(of: stamp)], at: world.now)
        #expect(try world.ledger.openDeletions() == [])
    }

    /// Removes the file, and what is stored of it.
    private func forget(keeping kept: Set<ObjectKey> = []) throws {
        world.remove(path)
        try world.scan()
        let photo = try #require(try world.status(path))
        #expect(try world.ledger.beginForget([(photo.id, photo.state)], keeping: kept, at: world.now) == [photo.id])
    }

    @Test func `an original whose photo was forgotten on the way is not noted, and is deleted, too`() throws {
        world.write(path)
        try store()
        let candidate = try #require(try candidates().first)
        let record = try original(of: candidate.copy)
        let upload = try #require(try world.ledger.beginOriginal(record.key, of: candidate))
        try forget()
        #expect(try !world.ledger.noteOriginal(record, of: candidate, upload))
        #expect(try world.ledger.object(record.key) == nil)
        #expect(try world.ledger.beginOriginal(record.key, of: candidate) == nil)
        #expect(try world.ledger.openDeletions().map(\.key).contains(record.key))
    }

    /// Has the store delete all that is to be deleted.
    private func delete() throws {
        let keys = try world.ledger.beginDeletions(try world.ledger.openDeletions().map(\.key), at: world.now)
        try world.ledger.endDeletions(keys, at: world.now)
        #expect(try world.ledger.openDeletions() == [])
    }

    @Test(arguments: ["noted", "failed", "killed"])
    func `one that comes after its deletion was proved is deleted once more`(end: String) throws {
        world.write(path)
        try store()
        let candidate = try #require(try candidates().first)
        let record = try original(of: candidate.copy)
        let upload = try #require(try world.ledger.beginOriginal(record.key, of: candidate))
        try forget()
        try delete()
        switch end {
        case "noted": #expect(try !world.ledger.noteOriginal(record, of: candidate, upload))
        case "failed": try world.ledger.endOriginal(record.key, of: candidate, upload, at: world.now)
        default: try world.ledger.recoverInterrupted(at: world.now)
        }
        #expect(try world.ledger.openDeletions().map(\.key) == [record.key])
        try delete()
        try world.ledger.recoverInterrupted(at: world.now)
        #expect(try world.ledger.openDeletions() == [])
    }

    @Test func `one that has failed and was not forgotten is deleted by nobody, and goes with its photo`() throws {
        world.write(path)
        try store()
        let candidate = try #require(try candidates().first)
        let key = try #require(candidate.copy.key.original)
        let upload = try #require(try world.ledger.beginOriginal(key, of: candidate))
        try world.ledger.endOriginal(key, of: candidate, upload, at: world.now)
        try world.ledger.recoverInterrupted(at: world.now)
        #expect(try world.ledger.openDeletions() == [])
        try forget()
        #expect(try world.ledger.openDeletions().map(\.key).contains(key))
    }

    @Test func `one that was begun and is not kept is told, until it is, or its file is another one`() throws {
        world.write(path)
        try store()
        func begun() throws -> Int { try world.ledger.originalsStatus(below: prefix).begun }
        let candidate = try #require(try candidates().first)
        let key = try #require(candidate.copy.key.original)
        #expect(try begun() == 0)
        let upload = try #require(try world.ledger.beginOriginal(key, of: candidate))
        try world.ledger.endOriginal(key, of: candidate, upload, at: world.now)
        #expect(try begun() == 1)
        world.write(path, size: 3_000)
        try store()
        let other = try #require(try candidates().first)
        #expect(try other.copy.key != candidate.copy.key && begun() == 0)
        _ = try world.ledger.beginOriginal(try #require(other.copy.key.original), of: other)
        #expect(try begun() == 1)
        try keepAll()
        #expect(try begun() == 0)
    }

    @Test func `a broken one that is being kept again goes with its photo, too`() throws {
        world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        try world.ledger.markBroken(
            [BrokenObject(try #require(try world.ledger.object(kept.key)), .missing)], at: world.now)
        let candidate = try #require(try candidates().first)
        let upload = try #require(try world.ledger.beginOriginal(kept.key, of: candidate))
        try forget()
        #expect(try world.ledger.openDeletions().map(\.key).contains(kept.key))
        #expect(try !world.ledger.noteOriginal(kept, of: candidate, upload))
        #expect(try world.ledger.object(kept.key) == nil)
    }

    @Test func `an original that a process was killed over goes with its photo, though nobody has noted it`() throws {
        world.write(path)
        try store()
        let candidate = try #require(try candidates().first)
        let key = try #require(candidate.copy.key.original)
        _ = try world.ledger.beginOriginal(key, of: candidate)
        try forget()
        #expect(Set(try world.ledger.openDeletions().map(\.key)) == [key, candidate.copy.key])
    }

    @Test func `so it does when the copy is broken, but not when another machine needs it`() throws {
        for (isNeeded, deleted) in [(false, 1), (true, 0)] {
            world.write(path, size: isNeeded ? 3_000 : 2_000)
            try store()
            let candidate = try #require(try candidates().first)
            let key = try #require(candidate.copy.key.original)
            _ = try world.ledger.beginOriginal(key, of: candidate)
            world.remove(path)
            try world.scan()
            try world.ledger.markBroken([BrokenObject(candidate.copy, .missing)], at: world.now)
            let before = try world.ledger.openDeletions().count
            try forget(keeping: isNeeded ? [candidate.copy.key] : [])
            #expect(try world.ledger.openDeletions().count - before == deleted)
        }
    }

    @Test func `an original that was proved while its photo was forgotten and came again is not kept`() throws {
        world.write(path)
        try store()
        let candidate = try #require(try candidates().first)
        let record = try original(of: candidate.copy)
        let upload = try #require(try world.ledger.beginOriginal(record.key, of: candidate))
        try forget()
        let gone = try world.ledger.beginDeletions(try world.ledger.openDeletions().map(\.key), at: world.now)
        try world.ledger.endDeletions(gone, at: world.now)
        world.write(path)
        try store()
        #expect(try !world.ledger.noteOriginal(record, of: candidate, upload))
        #expect(try world.ledger.object(record.key) == nil && candidates().count == 1)
    }

    @Test func `a photo with a broken copy and a whole original is not lost, and stays when the lost go`() throws {
        world.write(path)
        try store()
        let kept = try #require(try keepAll().first)
        let copy = try #require(try world.status(path)?.object)
        world.remove(path)
        try world.scan()
        try world.ledger.markBroken([BrokenObject(copy, .missing)], at: world.now)
        let photo = try #require(try world.status(path))
        #expect(try world.ledger.lost(among: [photo]) == [])
        #expect(try world.ledger.forget(photos: [photo.id], objects: []) == 0)
        let known = try #require(try world.ledger.object(kept.key))
        try world.ledger.markBroken([BrokenObject(known, .missing)], at: world.now)
        #expect(try world.ledger.lost(among: [try #require(try world.status(path))]) == [photo.id])
        #expect(try world.ledger.forget(photos: [photo.id], objects: []) == 1)
    }

    @Test func `an original that is being deleted for good is not noted`() throws {
        world.write(path)
        try store()
        let candidate = try #require(try candidates().first)
        let record = try original(of: candidate.copy)
        let upload = try #require(try world.ledger.beginOriginal(record.key, of: candidate))
        try world.ledger.forgetAgain([ObjectInfo(key: record.key, size: 900)], at: world.now)
        #expect(try !world.ledger.noteOriginal(record, of: candidate, upload))
        _ = try world.ledger.beginDeletions([record.key], at: world.now)
        #expect(try world.ledger.beginOriginal(record.key, of: candidate) == nil)
        #expect(try world.ledger.object(record.key) == nil && candidates().count == 1)
    }
}
