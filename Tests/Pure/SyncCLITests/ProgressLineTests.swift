import FoundationEssentials
import SyncCore
import SyncSystem
import SystemPackage
import Testing

@testable import SyncCLI

@Suite struct ProgressLineTests {
    private let clock = Lock(Duration.zero)

    /// What a line writes, with a clock that stands still but for what `body` moves.
    private func written(
        onTerminal isTerminal: Bool, elsewhere: ProgressLine.Elsewhere = .nowAndThen,
        _ body: (ProgressLine, _ move: (Duration) -> Void) -> Void
    ) throws -> String {
        try written(onTerminal: isTerminal) { terminal, time in
            body(ProgressLine(terminal, time: time, elsewhere: elsewhere)) { step in clock.withLock { $0 += step } }
        }
    }

    private func written(
        onTerminal isTerminal: Bool, _ body: (Terminal, TimeSource) -> Void
    ) throws -> String {
        let time = TimeSource(
            now: { Date(timeIntervalSince1970: 0) }, monotonic: { clock.withLock { $0 } }, sleep: { _ in },
            random: { 0 })
        let (reading, writing) = try FileDescriptor.pipe()
        return try reading.closeAfter {
            try writing.closeAfter {
                let terminal = Terminal(writing.rawValue, isTerminal: isTerminal, [:])
                body(terminal, time)
            }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = try bytes.withUnsafeMutableBytes { try reading.read(into: $0) }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    @Test func `on a terminal it is drawn over, ten times a second at most, and taken away`() throws {
        let text = try written(onTerminal: true) { line, move in
            line.update { _ in "one" }
            line.update { _ in "too early" }
            move(.milliseconds(100))
            line.update { "after \($0)" }
            line.finish()
        }
        #expect(text == "\r\u{1B}[Kone\r\u{1B}[Kafter 0.1 seconds\r\u{1B}[K")
    }

    @Test func `elsewhere a plain line is told every ten seconds, the first after as many`() throws {
        let text = try written(onTerminal: false) { line, move in
            line.count(1, of: 40, "photo")
            move(.seconds(10))
            line.count(12, of: 40, "photo")
            line.count(11, of: 40, "photo")
            move(.seconds(9))
            line.count(20, of: 40, "photo")
            line.finish()
        }
        #expect(text == "[======              ]  12 of 40 photos\n")
    }

    @Test func `a pass tells how many files it has found, before it knows of photos`() throws {
        let text = try written(onTerminal: true) { terminal, time in
            let progress = PassProgress(terminal: terminal, time: time)
            progress.noteSeen(1_200)
            clock.withLock { $0 += .seconds(60) }
            progress.noteSeen(45_231)
            progress.finish()
        }
        let draws = text.split(separator: "\r\u{1B}[K").map(String.init)
        #expect(
            draws == [
                "looking through the folders: 1,200 files", "looking through the folders: 45,231 files",
            ])
    }

    @Test func `what it waits for is told at once, everywhere, and once`() throws {
        let text = try written(onTerminal: false, elsewhere: .nothing) { line, move in
            line.show("waiting")
            line.show("waiting")
            move(.seconds(60))
            line.update { _ in "nobody reads this" }
            line.writeLine("failed")
        }
        #expect(text == "waiting\nfailed\n")
    }

    @Test func `a line that stays stands above the progress`() throws {
        let text = try written(onTerminal: true) { line, _ in
            line.show("half")
            line.writeLine("failed")
            line.show("half")
        }
        #expect(text == "\r\u{1B}[Khalf\r\u{1B}[Kfailed\n\r\u{1B}[Khalf")
    }
}
