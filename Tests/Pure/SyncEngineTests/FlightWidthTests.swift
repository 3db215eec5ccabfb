import Testing

@testable import SyncEngine

/// How many objects are on their way, on lines that are reckoned: no clock is waited for.
@Suite struct FlightWidthTests {
    /// A line for all objects, one after the other, to a server that is a round trip away.
    struct Line: CustomTestStringConvertible {
        let roundTrip: Duration
        /// A second.
        let bytes: Double
        /// Of each object.
        let size: Int64

        var testDescription: String { "\(size) bytes of \(bytes) a second, \(roundTrip)" }

        /// Sends as many at once as the width says.
        /// - Returns: how many might be on their way after each of them.
        func send(_ objects: Int, _ width: inout FlightWidth, from start: Duration = .zero) -> [Int] {
            var (now, free) = (start, start)
            // In the order in which they arrive: what is sent first is first at the server.
            var underWay: [(began: Duration, end: Duration)] = []
            var counts: [Int] = []
            while counts.count < objects {
                while underWay.count < width.count, counts.count + underWay.count < objects {
                    free = max(now, free) + .seconds(Double(size) / bytes)
                    underWay.append((now, free + roundTrip))
                    width.begin(at: now)
                }
                let first = underWay.removeFirst()
                now = first.end
                width.end(size, began: first.began, now: now)
                counts.append(width.count)
            }
            return counts
        }
    }

    private static let far = Duration.milliseconds(50)
    private static let thumbnails = Line(roundTrip: far, bytes: 12_500_000, size: 700)

    @Test func `thumbnails double until as many are on their way as may be`() {
        var width = FlightWidth(from: 3, to: 32)
        let counts = Self.thumbnails.send(300, &width)
        #expect(counts.first == 3)
        #expect(counts.last == 32)
        #expect(counts.max() == 32)
        #expect(counts[150] == 32)
    }

    @Test(
        arguments: [
            // A server in the house, and one on this machine.
            Line(roundTrip: .milliseconds(5), bytes: 12_500_000, size: 700),
            Line(roundTrip: .microseconds(500), bytes: 1e9, size: 1_000_000),
            // A line that takes three seconds for a photo.
            Line(roundTrip: far, bytes: 125_000, size: 400_000),
        ])
    func `where the server is near, or the line slow, there are no more than at first`(line: Line) {
        var width = FlightWidth(from: 3, to: 32)
        #expect(Set(line.send(300, &width)) == [3])
    }

    @Test func `what does not pay is taken back, and not tried again at once`() {
        var width = FlightWidth(from: 3, to: 32)
        let counts = Line(roundTrip: Self.far, bytes: 12_500_000, size: 1_000_000).send(300, &width)
        #expect(counts.max() == 6)
        #expect(counts.count { $0 == 6 } < 30)
        #expect(counts.last == 3)
    }

    @Test func `a line that has become slow has few again`() {
        var width = FlightWidth(from: 3, to: 32)
        _ = Self.thumbnails.send(300, &width)
        let slow = Line(roundTrip: Self.far, bytes: 125_000, size: 400_000)
        #expect(slow.send(300, &width, from: .seconds(60)).last == 3)
    }

    @Test func `a while without photos tells nothing about the line`() {
        var width = FlightWidth(from: 3, to: 32)
        let counts = (0..<20).flatMap { Self.thumbnails.send(50, &width, from: .seconds(3_600 * $0)) }
        #expect(counts == counts.sorted())
        #expect(width.count == 24)
    }

    @Test func `who has a number has it, whatever the line is`() {
        var width = FlightWidth(from: 3, to: 3)
        #expect(Set(Self.thumbnails.send(300, &width)) == [3])
    }

    @Test func `a server that asks to slow down gets half, and what it said at the same moment counts once`() {
        var width = FlightWidth(from: 3, to: 32)
        _ = Self.thumbnails.send(300, &width)
        for _ in 1...10 { width.slowDown(at: .seconds(10)) }
        #expect(width.count == 16)
        width.slowDown(at: .seconds(12))
        #expect(width.count == 8)
        for second in 13...30 { width.slowDown(at: .seconds(second)) }
        #expect(width.count == 3)
    }

    @Test func `after that one more goes every two seconds, until there are as many as before`() {
        var width = FlightWidth(from: 3, to: 32)
        _ = Self.thumbnails.send(600, &width)
        width.slowDown(at: .seconds(10))
        // Sixteen in 50 ms: the first step is there after 640 of them.
        let counts = Self.thumbnails.send(20_000, &width, from: .seconds(10))
        #expect(counts[600] == 16)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $1 - $0 <= 1 })
        #expect(counts[8_000] > 20 && counts[8_000] < 32)
        #expect(counts.last == 32)
    }

    @Test func `a server that asks again on the way there gets half once more, and does not stop it`() {
        var width = FlightWidth(from: 3, to: 32)
        _ = Self.thumbnails.send(600, &width)
        for second in 10...12 { width.slowDown(at: .seconds(second)) }
        #expect(width.count == 4)
        #expect(Self.thumbnails.send(40_000, &width, from: .seconds(12)).last == 32)
    }

    @Test func `what waited since the server asked does not pass for a slow line`() {
        var width = FlightWidth(from: 3, to: 32)
        _ = Self.thumbnails.send(600, &width)
        for _ in 1...32 { width.begin(at: .seconds(10)) }
        width.slowDown(at: .seconds(11))
        for _ in 1...32 { width.end(700, began: .seconds(10), now: .seconds(15)) }
        _ = Self.thumbnails.send(40, &width, from: .seconds(15))
        #expect(width.count >= 16)
    }

    @Test func `after that it waits for a minute before it tries more than there were`() {
        var width = FlightWidth(from: 3, to: 32)
        width.slowDown(at: .seconds(10))
        // Three in 50 ms: a minute of them.
        let counts = Self.thumbnails.send(4_000, &width, from: .seconds(10))
        #expect(counts[3_500] == 3)
        #expect(counts.last == 32)
    }

    @Test func `what is prepared more slowly than it is sent does not need more`() {
        var width = FlightWidth(from: 8, to: 32)
        var now = Duration.zero
        for _ in 1...100 {
            width.begin(at: now)
            width.end(700, began: now, now: now + Self.far)
            now += Self.far
        }
        #expect(width.count == 8)
    }

    @Test func `what failed tells nothing about the line`() {
        var width = FlightWidth(from: 3, to: 32)
        for _ in 1...100 {
            width.begin(at: .zero)
            width.fail()
        }
        #expect(width.count == 3)
        #expect(Self.thumbnails.send(300, &width).last == 32)
    }
}
