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

    @Test func `a stamp of an older ledger is compared by what it knows`() {
        let old = FileStamp(device: 1, inode: 2, size: 3, modified: 4)
        #expect(Self.stamp.isUntouched(since: old))
        #expect(!old.isUntouched(since: Self.stamp))
        #expect(!Self.changed { $0.modified = 9 }.isUntouched(since: old))
        #expect(!Self.stamp.isRenamed(from: old))
    }
}
