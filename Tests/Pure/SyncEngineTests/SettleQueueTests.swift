import SyncEngine
import SystemPackage
import Testing

@Suite struct SettleQueueTests {
    private var queue = SettleQueue(settle: .seconds(2))

    @Test mutating func `a file is due when it has been quiet for the settle time`() {
        queue.note("/g/a.jpg", at: .seconds(10))
        #expect(queue.nextDue == .seconds(12))
        #expect(queue.takeDue(at: .milliseconds(11_999)) == [])
        #expect(queue.takeDue(at: .seconds(12)) == ["/g/a.jpg"])
        #expect(queue.isEmpty)
    }

    @Test mutating func `a file that is closed again waits again`() {
        queue.note("/g/a.jpg", at: .seconds(10))
        queue.note("/g/a.jpg", at: .seconds(11))
        #expect(queue.takeDue(at: .seconds(12)) == [])
        #expect(queue.takeDue(at: .seconds(13)) == ["/g/a.jpg"])
    }

    @Test mutating func `a file that is written to leaves the queue until it is closed`() {
        queue.note("/g/a.jpg", at: .seconds(10))
        queue.remove("/g/a.jpg")
        #expect(queue.nextDue == nil)
        #expect(queue.takeDue(at: .seconds(100)) == [])
        queue.note("/g/a.jpg", at: .seconds(100))
        #expect(queue.takeDue(at: .seconds(102)) == ["/g/a.jpg"])
    }

    @Test(
        arguments: [(0, 12_000), (1_500, 10_500), (2_000, 10_000), (5_000, 10_000), (-1_000, 12_000)])
    mutating func `a scanned file waits for what is left of its settle time`(ageMilliseconds: Int, dueMilliseconds: Int)
    {
        queue.note("/g/a.jpg", age: .milliseconds(ageMilliseconds), at: .seconds(10))
        #expect(queue.nextDue == .milliseconds(dueMilliseconds))
    }

    @Test mutating func `files that are due together come in the order of their paths`() {
        for name in ["c", "a", "b"] { queue.note(FilePath("/g/\(name)"), at: .zero) }
        queue.note("/g/later", at: .seconds(1))
        #expect(queue.takeDue(at: .seconds(2)) == ["/g/a", "/g/b", "/g/c"])
        #expect(queue.nextDue == .seconds(3))
    }
}
