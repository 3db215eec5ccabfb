import SyncCore
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct HintMailboxTests {
    let mailbox = HintMailbox(limit: 3)
    let root: FilePath = "/r"

    @Test func `hints come out together, in the order of their first arrival`() async {
        mailbox.post([.file("/r/a"), .tree("/r/b")], of: root)
        mailbox.post([.gone("/r/c")], of: root)
        #expect(await mailbox.next() == [.file("/r/a"), .tree("/r/b"), .gone("/r/c")])
    }

    @Test(
        arguments: [
            ([.writing("/r/a"), .file("/r/a")], [.file("/r/a")]),
            ([.file("/r/a"), .writing("/r/a")], [.writing("/r/a")]),
            ([.file("/r/a"), .file("/r/b"), .gone("/r/a")], [.gone("/r/a"), .file("/r/b")]),
            ([.gone("/r/a"), .tree("/r/a"), .tree("/r/a")], [.tree("/r/a")]),
            ([.gone("/r"), .tree("/r")], [.tree("/r")]),
            ([.tree("/r/a"), .others("/r/a")], [.tree("/r/a")]), ([.others("/r/a"), .tree("/r/a")], [.tree("/r/a")]),
            ([.gone("/r/a"), .others("/r/a")], [.gone("/r/a")]), ([.others("/r"), .others("/r")], [.others("/r")]),
        ] as [([ChangeHint], [ChangeHint])])
    func `the latest hint for a path wins, unless it says less`(posted: [ChangeHint], taken: [ChangeHint]) async {
        for hint in posted { mailbox.post([hint], of: root) }
        #expect(await mailbox.next() == taken)
    }

    @Test func `too many paths of one root become one tree hint, others stay`() async {
        mailbox.post([.file("/other/x")], of: "/other")
        for index in 0..<100 { mailbox.post([.file(root.appending("\(index)"))], of: root) }
        mailbox.post([.file("/other/y")], of: "/other")
        #expect(await mailbox.next() == [.file("/other/x"), .tree("/r"), .file("/other/y")])
        mailbox.post([.file("/r/later")], of: root)
        #expect(await mailbox.next() == [.file("/r/later")])
    }

    @Test func `paths up to the limit are kept`() async {
        let hints = (0..<3).map { ChangeHint.file(root.appending("\($0)")) }
        mailbox.post(hints, of: root)
        mailbox.post(hints, of: root)
        #expect(await mailbox.next() == hints)
    }

    @Test func `a root that goes away after a collapse is gone`() async {
        mailbox.post((0..<10).map { .file(root.appending("\($0)")) }, of: root)
        mailbox.post([.gone(root), .file("/r/x")], of: root)
        #expect(await mailbox.next() == [.gone(root)])
    }

    @Test func `a waiting consumer gets what is posted`() async {
        async let hints = mailbox.next()
        mailbox.post([.file("/r/a")], of: root)
        #expect(await hints == [.file("/r/a")])
    }

    @Test func `cancelling the consumer ends its wait and loses no hint`() async {
        let mailbox = mailbox
        await withTaskGroup(of: [ChangeHint]?.self) { group in
            group.addTask { await mailbox.next() }
            group.cancelAll()
            #expect(await group.next() == .some(nil))
        }
        mailbox.post([.file("/r/a")], of: root)
        #expect(await mailbox.next() == [.file("/r/a")])
    }

    @Test func `a thousand cancellations against a thousand posts lose no hint`() async {
        let mailbox = HintMailbox()
        var taken: Set<FilePath> = []
        for index in 0..<1_000 {
            await withTaskGroup(of: [ChangeHint]?.self) { group in
                group.addTask { await mailbox.next() }
                group.addTask {
                    mailbox.post([.file(FilePath("/r/\(index)"))], of: "/r")
                    return []
                }
                group.cancelAll()
                for await hints in group { taken.formUnion((hints ?? []).map(\.path)) }
            }
        }
        mailbox.post([.file("/r/last")], of: root)
        taken.formUnion((await mailbox.next() ?? []).map(\.path))
        #expect(taken.count == 1_001)
    }

    @Test func `closing drops what is left and ends every wait`() async {
        mailbox.post([.file("/r/a")], of: root)
        mailbox.close()
        #expect(await mailbox.next() == nil)
        mailbox.post([.file("/r/b")], of: root)
        #expect(await mailbox.next() == nil)
    }

    @Test func `what is hinted at below a root waits for its own consumer, and can be taken without waiting`() async {
        let mailboxes = HintMailboxes()
        for root: FilePath in ["/a", "/b"] { mailboxes[root].post([.file(root.appending("1"))], of: root) }
        #expect(mailboxes["/b"].take() == [.file("/b/1")])
        #expect(mailboxes["/b"].take() == [])
        #expect(await mailboxes["/a"].next() == [.file("/a/1")])
        mailboxes.close()
        #expect(await mailboxes["/a"].next() == nil)
        #expect(await mailboxes["/c"].next() == nil)
    }
}
