import FoundationEssentials
import SyncCore
import Testing

@testable import SyncLedger

/// Whether what is stored can be read at a moment, by what the ledger was told of it before.
@Suite struct ObjectReadabilityTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)
    private static let later = now.addingTimeInterval(60)

    private func object(_ storageClass: StorageClass, _ restore: RestoreState) throws -> ObjectRecord {
        ObjectRecord(
            key: try ObjectKey("users/ana/photos/a.jpg"), size: 1, md5: nil, sha256: nil, contentType: "image/jpeg",
            storageClass: storageClass, restore: restore, storedAt: Self.now)
    }

    @Test(
        arguments: [
            (.standard, .none, true), (.standard, .restored(until: now), true), (.glacier, .none, false),
            (.glacier, .inProgress, false), (.glacier, .restored(until: nil), true),
            (.deepArchive, .restored(until: later), true), (.deepArchive, .restored(until: now), false),
        ] as [(StorageClass, RestoreState, Bool)])
    func `a restore whose time is over lets nobody read, though nothing has noted it yet`(
        storageClass: StorageClass, restore: RestoreState, isReadable: Bool
    ) throws {
        var object = try object(storageClass, restore)
        #expect(object.isReadable(at: Self.now) == isReadable)
        #expect(object.canBeRead(at: Self.now) == isReadable)
        #expect(object.canBeReadUnpriced(isFree: false, at: Self.now) == isReadable)
        object.problem = .missing
        #expect(!object.canBeRead(at: Self.now))
    }

    @Test(
        arguments: [
            (.standard, .none, false), (.glacier, .none, true), (.glacier, .inProgress, false),
            (.glacier, .restored(until: later), false), (.glacier, .restored(until: now), true),
        ] as [(StorageClass, RestoreState, Bool)])
    func `it can be asked for again from the moment when its time is over`(
        storageClass: StorageClass, restore: RestoreState, canBeRestored: Bool
    ) throws {
        #expect(try object(storageClass, restore).canBeRestored(at: Self.now) == canBeRestored)
    }

    @Test func `a page reads nothing that has a price, unless reading is free`() throws {
        let object = try object(.standardIA, .none)
        #expect(!object.canBeReadUnpriced(isFree: false, at: Self.now))
        #expect(object.canBeReadUnpriced(isFree: true, at: Self.now))
    }
}
