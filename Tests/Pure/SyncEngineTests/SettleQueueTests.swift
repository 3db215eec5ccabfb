import FoundationEssentials
import SyncCore
import SyncEngine
import SystemPackage
import Testing

@Suite struct SettledStampTests {
    private static let second: Int64 = 1_000_000_000

    private func wait(modified: Int64, changed: Int64?, settle: Double = 2, at now: Double) -> Duration? {
        let stamp = FileStamp(device: 1, inode: 1, size: 1, modified: modified, changed: changed)
        return stamp.timeToSettle(.seconds(settle), at: Date(timeIntervalSince1970: now))
    }

    @Test(arguments: [(100.0, 2.0), (101.5, 0.5), (102, nil), (105, nil), (99, nil)])
    func `a file waits for what is left of the settle time; a time in the future is no time`(now: Double, left: Double?)
    {
        #expect(wait(modified: 100 * Self.second, changed: 7, at: now) == left.map { .seconds($0) })
        #expect(wait(modified: 100 * Self.second, changed: nil, at: now) == left.map { .seconds($0) })
    }

    @Test(arguments: [50 * second, 900 * second + 1])
    func `a file that changed a moment ago is not whole, whatever modification time it was given`(modified: Int64) {
        let changed = 100 * Self.second + 1
        #expect(wait(modified: modified, changed: changed, at: 101) == .seconds(1))
        #expect(wait(modified: modified, changed: changed, at: 102) == nil)
    }

    @Test func `a change by a clock that is somewhat ahead was just now, one by a wrong clock is none`() {
        #expect(wait(modified: 50 * Self.second, changed: 105 * Self.second + 1, at: 100) == .seconds(2))
        #expect(wait(modified: 50 * Self.second, changed: 700 * Self.second + 1, at: 100) == .seconds(2))
        #expect(wait(modified: 50 * Self.second, changed: 701 * Self.second + 1, at: 100) == nil)
        #expect(wait(modified: 50 * Self.second, changed: 105 * Self.second + 1, settle: 0, at: 100) == nil)
    }

    @Test func `where times are whole seconds, a file waits for two of them`() {
        #expect(wait(modified: 50 * Self.second, changed: 100 * Self.second + 1, settle: 0, at: 100.5) == nil)
        #expect(wait(modified: 50 * Self.second + 1, changed: 100 * Self.second, settle: 0, at: 100.5) == nil)
        #expect(wait(modified: 50 * Self.second, changed: 100 * Self.second, settle: 0, at: 100.5) == .seconds(1.5))
        #expect(wait(modified: 50 * Self.second, changed: 100 * Self.second, settle: 5, at: 100.5) == .seconds(4.5))
        #expect(wait(modified: 100 * Self.second, changed: 100 * Self.second, settle: 5, at: 100.5) == .seconds(4.5))
        #expect(wait(modified: 100 * Self.second, changed: 900 * Self.second, settle: 0, at: 100) == nil)
    }
}

@Suite struct SettleQueueTests {
    private var queue = SettleQueue(settle: .seconds(2))

    @Test mutating func `a file is due when it has been quiet for the settle time`() {
        queue.note("/g/a.jpg", at: .seconds(10))
        #expect(queue.nextDue == .seconds(12))
        #expect(queue.takeDue(at: .milliseconds(11_999)) == [])
        #expect(queue.takeDue(at: .seconds(12)) == ["/g/a.jpg"])
        #expect(queue.nextDue == nil)
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

    @Test mutating func `a file that is written to is told, once, and is due when it was closed`() {
        queue.noteWriting("/g/a.jpg", at: .seconds(10))
        #expect(queue.nextCheck == .milliseconds(10_100))
        queue.noteWriting("/g/a.jpg", at: .milliseconds(10_050))
        #expect(queue.takeUnfinished(at: .milliseconds(10_099)) == [])
        #expect(queue.takeUnfinished(at: .milliseconds(10_100)) == ["/g/a.jpg"])
        queue.noteWriting("/g/a.jpg", at: .seconds(21))
        #expect(queue.nextCheck == nil)
        #expect(queue.takeUnfinished(at: .seconds(100)) == [])
        queue.note("/g/a.jpg", at: .seconds(100))
        #expect(queue.takeDue(at: .seconds(102)) == ["/g/a.jpg"])
        // What is written next is another matter.
        queue.noteWriting("/g/a.jpg", at: .seconds(200))
        #expect(queue.takeUnfinished(at: .seconds(210)) == ["/g/a.jpg"])
    }

    @Test mutating func `a file that is closed again and again is told, and one that is whole or gone in time is not`()
    {
        queue = SettleQueue(settle: .milliseconds(20))
        for name in ["often", "whole", "gone"] { queue.noteWriting(FilePath("/g/\(name)"), at: .zero) }
        for tick in 1...10 { queue.note("/g/often", at: .milliseconds(10 * tick)) }
        queue.note("/g/whole", at: .milliseconds(70))
        queue.remove("/g/gone")
        #expect(queue.takeDue(at: .milliseconds(100)) == ["/g/whole"])
        #expect(queue.takeUnfinished(at: .milliseconds(100)) == ["/g/often"])
        #expect(queue.nextCheck == .milliseconds(120))
        #expect(queue.takeDue(at: .milliseconds(120)) == ["/g/often"])
        #expect(queue.nextCheck == nil)
    }

    @Test mutating func `the files of a burst are told together, and each stays in the queue until it is due`() {
        for number in 0..<1_000 { queue.note(FilePath("/g/\(number).jpg"), at: .microseconds(90 * number)) }
        #expect(queue.takeUnfinished(at: .milliseconds(100)).count == 1_000)
        #expect(queue.takeUnfinished(at: .milliseconds(500)) == [])
        queue.note("/g/late.jpg", at: .milliseconds(600))
        #expect(queue.nextCheck == .milliseconds(700))
        #expect(queue.takeUnfinished(at: .milliseconds(700)) == ["/g/late.jpg"])
        #expect(queue.takeDue(at: .seconds(3)).count == 1_001)
    }

    @Test mutating func `nothing is kept of what was told and is gone, by itself or with its folder`() {
        let files: [FilePath] = ["/g/trip/a.jpg", "/g/trip/b/c.jpg", "/g/trips.jpg"]
        for file in files { queue.noteWriting(file, at: .zero) }
        #expect(queue.takeUnfinished(at: .seconds(10)) == files)
        queue.remove("/g/trip")
        // What was told is not told again, and what is not known any more is.
        for file in files { queue.noteWriting(file, at: .seconds(20)) }
        #expect(queue.takeUnfinished(at: .seconds(30)) == Array(files.prefix(2)))
        for file in files { queue.forgetTelling(of: file) }
        for file in files { queue.noteWriting(file, at: .seconds(40)) }
        #expect(queue.takeUnfinished(at: .seconds(50)) == files)
    }

    @Test mutating func `a scanned file waits for what is left of its settle time`() {
        queue.note("/g/a.jpg", after: .milliseconds(500), at: .seconds(10))
        #expect(queue.nextDue == .milliseconds(10_500))
        queue.note("/g/a.jpg", after: .zero, at: .seconds(10))
        #expect(queue.takeDue(at: .seconds(10)) == ["/g/a.jpg"])
    }

    @Test mutating func `files that are due together come in the order of their paths`() {
        for name in ["c", "a", "b"] { queue.note(FilePath("/g/\(name)"), at: .zero) }
        queue.note("/g/later", at: .seconds(1))
        #expect(queue.takeDue(at: .seconds(2)) == ["/g/a", "/g/b", "/g/c"])
        #expect(queue.nextDue == .seconds(3))
    }
}
