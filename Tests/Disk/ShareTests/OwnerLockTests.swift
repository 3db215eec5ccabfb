import SyncEngine
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct OwnerLockTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    private func owners(_ number: Int64, at file: String = "shares.lock") -> OwnerLock {
        OwnerLock(at: tree.path(file), pid: 12, number: number)
    }

    @Test func `who is there has not ended, and who was there has`() {
        let me = owners(1)
        let gone: String
        do {
            let other = owners(OwnerLock.largestNumber)
            gone = other.name
            #expect(!me.hasEnded(other.name) && !other.hasEnded(me.name) && !me.hasEnded(me.name))
        }
        #expect(me.hasEnded(gone))
    }

    @Test func `of a name that nobody locked, nothing is known`() {
        let me = owners(1)
        for name in ["", "12", "12-", "12-0", "12-zz", "12?ab", "12-ffffffffffffffff", "12--5"] {
            #expect(!me.hasEnded(name), "\(name)")
        }
    }

    @Test func `where the file cannot be made, nobody is taken for one that has ended`() {
        let lost = owners(1, at: "no folder/shares.lock")
        let me = owners(2)
        #expect(lost.name == "12?1")
        #expect(!me.hasEnded(lost.name) && !lost.hasEnded("12-77"))
    }
}
