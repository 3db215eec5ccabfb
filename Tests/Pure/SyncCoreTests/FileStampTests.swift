import FoundationEssentials
import SyncCore
import Testing

@Suite struct FileStampTests {
    private static let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5, born: 6)

    private static func changed(_ change: (inout FileStamp) -> Void) -> FileStamp {
        var other = stamp
        change(&other)
        return other
    }

    @Test(arguments: [
        (stamp, true, true),
        (changed { $0.device = 9 }, false, false), (changed { $0.inode = 9 }, false, false),
        (changed { $0.size = 9 }, false, false), (changed { $0.modified = 9 }, false, false),
        (changed { $0.changed = 9 }, false, true), (changed { $0.born = 9 }, false, false),
        (changed { $0.born = nil }, false, false),
    ])
    func `each field tells a touched file, and all but one a renamed one`(
        other: FileStamp, isUntouched: Bool, isRenamed: Bool
    ) {
        #expect(other.isUntouched(since: Self.stamp) == isUntouched)
        #expect((other == Self.stamp) == isUntouched)
        #expect(other.isRenamed(from: Self.stamp) == isRenamed)
    }

    @Test(arguments: [
        (stamp, true), (changed { $0.device = 9 }, true), (changed { $0.changed = 9 }, true),
        (changed { $0.size = 9 }, true), (changed { $0.modified = 9 }, true), (changed { $0.inode = 9 }, false),
        (changed { $0.born = 9 }, false), (changed { $0.born = nil }, false),
    ])
    func `a file is the one that was met by its inode and its birth`(other: FileStamp, isMet: Bool) {
        #expect(other.isMet(as: Self.stamp) == isMet)
    }

    @Test func `without a birth it is by its time of change, as long as it is as it was`() {
        let old = Self.changed { $0.born = nil }
        #expect(old.isMet(as: old))
        for field in [\FileStamp.size, \FileStamp.modified] as [WritableKeyPath<FileStamp, Int64>] {
            var other = old
            other[keyPath: field] = 9
            #expect(!other.isMet(as: old))
        }
        var other = old
        other.changed = 9
        #expect(!other.isMet(as: old))
    }

    /// Numbers of the moment for inodes, and times of a camera whose clock was never set.
    @Test(arguments: [nil, 315_532_800_000_000_000] as [Int64?])
    func `a card does not pass for another one`(born: Int64?) {
        for time in [4, 315_532_800_000_000_000] as [Int64] {
            var card = Self.stamp
            card.modified = 4
            card.changed = time
            card.born = born
            #expect(!card.isMet(as: card))
        }
    }

    @Test(
        arguments: [
            (1_700_000_000, 5, 1_700_000_000_000_000_005), (-1, 999_999_999, -1),
            (9_223_372_036, 854_775_807, Int64.max),
            (9_223_372_036, 854_775_808, Int64.max), (15_032_385_535, 0, Int64.max), (-15_032_385_535, 0, Int64.min),
        ] as [(Int64, UInt32, Int64)])
    func `a time that nanoseconds do not reach is their last or first one`(
        seconds: Int64, nanoseconds: UInt32, time: Int64
    ) {
        #expect(FileStamp.time(seconds: seconds, nanoseconds: nanoseconds) == time)
    }

    @Test(
        arguments: [
            (1_700_000_000.123, 1_700_000_000_123_000_000), (-0.001, -1_000_000),
            (253_402_300_799, 9_223_372_036_000_000_000), (-62_135_596_800, -9_223_372_036_000_000_000),
        ] as [(TimeInterval, Int64)])
    func `a time that somebody tells may be any`(seconds: TimeInterval, time: Int64) {
        #expect(FileStamp.time(Date(timeIntervalSince1970: seconds)) == time)
    }

    @Test func `a stamp of an older ledger is compared by what it knows`() {
        let old = FileStamp(device: 1, inode: 2, size: 3, modified: 4)
        #expect(Self.stamp.isUntouched(since: old))
        #expect(!old.isUntouched(since: Self.stamp))
        #expect(!Self.changed { $0.modified = 9 }.isUntouched(since: old))
        #expect(!Self.stamp.isRenamed(from: old))
    }
}
