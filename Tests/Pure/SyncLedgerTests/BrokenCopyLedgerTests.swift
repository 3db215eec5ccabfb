import Foundation
import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// Copies that are gone or damaged: those that are made anew from their originals, and what is forgotten with them.
@Suite struct BrokenCopyLedgerTests {
    private let world: World
    private let path: FilePath = "/pictures/gallery/a.jpg"

    init() throws {
        world = try World()
    }

    @Test func `what another machine may need of a lost photo stays, and no rebuild takes it for whole`() throws {
        world.write(path)
        try world.storeReduced()
        let kept = try #require(try world.keepOriginals().first)
        let copy = try #require(try world.status(path)?.object)
        world.remove(path)
        try world.scan()
        let original = try #require(try world.ledger.object(kept.key))
        try world.ledger.markBroken(
            [original, copy].map { BrokenObject($0, .damaged("its bytes are others")) }, at: world.now)
        let photo = try #require(try world.status(path))
        let forgotten = try world.ledger.beginForget([(photo.id, photo.state)], keeping: [copy.key], at: world.now)
        #expect(forgotten == [photo.id])
        #expect(try world.ledger.openDeletions().isEmpty && world.ledger.overview().broken == 0)
        let keys = try KeyLayout(user: "ana")
        func listed(_ record: ObjectRecord, etag: String?) -> ObjectInfo {
            ObjectInfo(key: record.key, size: record.size, etag: etag)
        }
        try world.ledger.noteListed(
            [listed(copy, etag: copy.etag), listed(original, etag: "another")], keys: keys, tellsRestores: false,
            at: world.now)
        // The ETag that was known is that of what was stored: of what was written over it another one is listed.
        for key in [copy.key, kept.key] {
            let found = try #require(try world.ledger.object(key))
            #expect(found.problem?.isDamage == true)
            try world.ledger.noteProof(found, isRead: true, at: world.now)
            #expect(try world.ledger.object(key)?.problem == nil)
        }
    }

    /// Stores the photo, which is lost then: its file is gone, its copy is damaged. And nobody wants it any more.
    private func forgetDamaged() throws -> ObjectRecord {
        try world.storeReduced()
        let copy = try #require(try world.status(path)?.object)
        world.remove(path)
        try world.scan()
        try world.ledger.markBroken([BrokenObject(copy, .damaged("its bytes are others"))], at: world.now)
        let photo = try #require(try world.status(path))
        #expect(photo.state == .lost)
        #expect(try world.ledger.beginForget([(photo.id, photo.state)], at: world.now) == [photo.id])
        return copy
    }

    /// The store tells of it as it was stored.
    private func list(_ copy: ObjectRecord) throws {
        try world.ledger.noteListed(
            [ObjectInfo(key: copy.key, size: copy.size, etag: copy.etag)], keys: KeyLayout(user: "ana"),
            tellsRestores: false, at: world.now)
    }

    @Test func `what turns out to be needed, and is not deleted, is damaged still`() throws {
        world.write(path)
        let copy = try forgetDamaged()
        #expect(try world.ledger.openDeletions().map(\.key) == [copy.key])
        try world.ledger.withdrawDeletions([copy.key], isOver: true)
        try list(copy)
        #expect(try world.ledger.object(copy.key)?.problem?.isDamage == true)
    }

    @Test func `what was damaged and is deleted is not damaged when it is stored anew`() throws {
        world.write(path)
        let copy = try forgetDamaged()
        let keys = try world.ledger.beginDeletions(try world.ledger.openDeletions().map(\.key), at: world.now)
        try world.ledger.endDeletions(keys, at: world.now)
        try list(copy)
        #expect(try world.ledger.object(copy.key) != nil)
        #expect(try world.ledger.object(copy.key)?.problem == nil)
    }

    @Test func `what was damaged and is stored anew here is whole from then on`() throws {
        let stamp = world.write(path)
        let copy = try forgetDamaged()
        try world.ledger.withdrawDeletions([copy.key], isOver: true)
        world.put(stamp, at: path)
        try world.storeReduced()
        #expect(try world.status(path)?.object?.key == copy.key)
        world.remove(path)
        try world.scan()
        let photo = try #require(try world.status(path))
        #expect(try world.ledger.beginForget([(photo.id, photo.state)], at: world.now) == [photo.id])
        try world.ledger.withdrawDeletions([copy.key], isOver: true)
        try list(copy)
        #expect(try world.ledger.object(copy.key) != nil)
        #expect(try world.ledger.object(copy.key)?.problem == nil)
    }

    @Test func `a project's file in a folder of that name is no original`() throws {
        let keys = try KeyLayout(user: "ana")
        let files = try ["photos", "originals"].map { folder in
            ObjectRecord(
                key: try keys.projectFile("sea/\(folder)/1.jpg"), size: 10, md5: nil, sha256: nil,
                contentType: "image/jpeg", storedAt: world.now)
        }
        for file in files { try world.ledger.noteStoredAgain(file) }
        try world.ledger.markBroken([BrokenObject(files[0], .missing)], at: world.now)
        #expect(try world.ledger.object(files[0].key)?.problem == .missing)
        #expect(try world.ledger.copiesToMakeAnew().isEmpty)
        #expect(try world.ledger.overview().copiesToMakeAnew == 0)
    }

    @Test(arguments: ["ana", "photos", "originals", "projects", "é'%_*"])
    func `a copy is made anew of its original, whatever the user is called`(user: String) throws {
        let keys = try KeyLayout(user: user)
        let id = "0123456789abcdef0123456789abcdef"
        let names = [keys.photos, keys.originals].map { "\($0)\(id).dat" }
        let records = try names.map { name in
            ObjectRecord(
                key: try ObjectKey(name), size: 10, md5: nil, sha256: nil, contentType: "image/jpeg",
                storedAt: world.now)
        }
        for record in records { try world.ledger.noteStoredAgain(record) }
        try world.ledger.markBroken([BrokenObject(records[0], .missing)], at: world.now)
        #expect(try world.ledger.copiesToMakeAnew() == [records[0].key])
        #expect(try world.ledger.brokenCopy(records[0].key, at: world.now)?.original.key == records[1].key)
        try world.ledger.markBroken([BrokenObject(records[1], .missing)], at: world.now)
        #expect(try world.ledger.copiesToMakeAnew().isEmpty)
    }

    @Test(arguments: [true, false])
    func `of a folder that is not watched, a photo is stored as soon as its copy is there again`(
        isMade: Bool
    ) throws {
        world.write(path)
        try world.storeReduced()
        try world.keepOriginals()
        let copy = try #require(try world.status(path)?.object)
        try world.register([World.trips, World.projects])
        try world.ledger.markBroken([BrokenObject(copy, .damaged("its bytes are others"))], at: world.now)
        #expect(try world.state(path) == .pending)
        #expect(try world.ledger.copiesToMakeAnew() == [copy.key])
        if isMade {
            #expect(try world.ledger.noteMadeAnew(copy, at: world.now))
        } else {
            try world.ledger.noteProof(try #require(try world.ledger.object(copy.key)), isRead: true, at: world.now)
        }
        let photo = try #require(try world.status(path))
        #expect(photo.state == .uploaded && photo.error == nil)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [nil, true, false] as [Bool?])
    func `what waited, or failed, when its folder left the configuration is stored where its copy is there`(
        isReadAsItFails isRead: Bool?
    ) throws {
        let stamp = world.write(path)
        try world.scan()
        try world.storeAll()
        let copy = try #require(try world.status(path)?.object)
        try world.ledger.markBroken([BrokenObject(copy, .damaged("its bytes are others"))], at: world.now)
        if let isRead {
            let digest = try isRead ? World.digest(of: stamp) : nil
            for claim in try world.ledger.claim(limit: 9, at: world.now) {
                try world.ledger.commit(claim, outcome: .failed("it cannot be decoded", digest), at: world.now)
            }
        }
        try world.ledger.noteProof(try #require(try world.ledger.object(copy.key)), isRead: true, at: world.now)
        let before: PhotoState = isRead == nil ? .pending : .failed
        #expect(try world.state(path) == before, "its folder is watched")
        try world.register([World.trips, World.projects])
        // A file that failed unread may be another one by now.
        #expect(try world.state(path) == (isRead == false ? .failed : .uploaded))
        #expect(try world.ledger.check() == [])
    }

    @Test func `what a listing tells of a ruin is not what was stored there, also where that is not known`() throws {
        let keys = try KeyLayout(user: "ana")
        let id = "0123456789abcdef0123456789abcdef"
        let key = try ObjectKey("\(keys.photos)\(id).dat")
        let known = ObjectRecord(
            key: key, size: 10, md5: MD5Digest(hex: id), sha256: nil, contentType: "image/jpeg", storedAt: world.now,
            etag: "of the photo", problem: .damaged("its bytes are others"))
        let ruin = ObjectInfo(
            key: key, size: 10, sha256: SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)), etag: "of the ruin")
        try world.ledger.noteListed([ruin], keys: keys, damaged: [key: known], tellsRestores: false, at: world.now)
        let found = try #require(try world.ledger.object(key))
        #expect(found.problem?.isDamage == true && found.sha256 == nil && found.md5 == known.md5)
    }

    @Test func `an archived photo of a profile of that name has no original`() throws {
        let keys = try KeyLayout(user: "ana")
        let month = try #require(CalendarDay("2024-05-01"))
        let photos = try ["photos", "originals"].map { profile in
            ObjectRecord(
                key: try keys.archivedPhoto(profile: profile, month: month, event: "e1"), size: 10, md5: nil,
                sha256: nil, contentType: "image/jpeg", storedAt: world.now)
        }
        for photo in photos { try world.ledger.noteStoredAgain(photo) }
        try world.ledger.markBroken([BrokenObject(photos[0], .missing)], at: world.now)
        #expect(try world.ledger.copiesToMakeAnew().isEmpty)
    }

    @Test func `a copy that was made anew of a photo that was forgotten meanwhile is deleted, too`() throws {
        world.write(path)
        try world.storeReduced()
        try world.keepOriginals()
        let copy = try #require(try world.status(path)?.object)
        world.remove(path)
        try world.scan()
        try world.ledger.markBroken([BrokenObject(copy, .missing)], at: world.now)
        #expect(try world.ledger.copiesToMakeAnew() == [copy.key])
        let photo = try #require(try world.status(path))
        _ = try world.ledger.beginForget([(photo.id, photo.state)], at: world.now)
        #expect(try world.ledger.copiesToMakeAnew().isEmpty)
        #expect(try !world.ledger.noteMadeAnew(copy, at: world.now))
        #expect(try world.ledger.object(copy.key) == nil)
        #expect(try world.ledger.openDeletions().map(\.key).contains(copy.key))
    }
}

/// Originals beside reduced copies.
extension World {
    /// Stores reduced copies of all that is new.
    func storeReduced() throws {
        try scan()
        for claim in try ledger.claim(limit: .max, at: now) {
            guard case .uploaded(let digest, var record) = try stored(claim) else { continue }
            record.sha256 = SHA256Digest(bytes: [UInt8](repeating: 7, count: 32))
            try ledger.commit(claim, outcome: .uploaded(digest, record), at: now)
        }
    }

    func originalCandidates() throws -> [OriginalCandidate] {
        try ledger.photosWithoutOriginal(after: 0, limit: 100).candidates
    }

    func original(of copy: ObjectRecord) throws -> ObjectRecord {
        var record = ObjectRecord(
            key: try #require(copy.key.original), size: 900, md5: copy.md5, sha256: copy.sha256,
            contentType: "image/jxl", storedAt: now)
        record.encoding = .jxl
        return record
    }

    @discardableResult
    func keepOriginals() throws -> [ObjectRecord] {
        try originalCandidates().map { candidate in
            let record = try original(of: candidate.copy)
            let upload = try #require(try ledger.beginOriginal(record.key, of: candidate))
            #expect(try ledger.noteOriginal(record, of: candidate, upload))
            return record
        }
    }
}
