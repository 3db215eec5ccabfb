import Foundation
import Glibc
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncPhotos

/// The agent's side of decoding, against a worker that does what it is told.
@Suite struct PictureWorkersTests {
    private let worker: ScriptedWorker
    private let pictures: PictureWorkers
    private let limits = PhotoLimits()

    init() throws {
        worker = try ScriptedWorker()
        // As patient as the program: a worker may be long in coming up on a busy machine.
        pictures = PictureWorkers(programs: [worker.program], memory: DecodingBudget(bytes: limits.memory))
    }

    private func decode(_ source: PictureSource, by workers: PictureWorkers? = nil) throws(PhotoError) -> PixelSize {
        try (workers ?? pictures).decoded(source, as: .png, within: limits) {
            (picture) throws(PhotoError) -> PixelSize in picture.size
        }
    }

    /// Workers that are given up soon, but not before one of them can answer on a machine as busy as this one.
    /// - Parameter wall: how soon at the soonest.
    /// - Returns: with the process of the worker that has answered.
    private func hasty(
        wall: Duration = .milliseconds(300), processor: Duration = .zero
    ) throws -> (pictures: PictureWorkers, first: pid_t) {
        var wall = wall
        while true {
            let hasty = PictureWorkers(
                programs: [worker.program], patience: .init(wall: wall, processor: processor),
                memory: DecodingBudget(bytes: limits.memory))
            if let first = process(of: hasty) { return (hasty, first) }
            hasty.close()
            wall = wall * 2
            try #require(wall < .seconds(600))
        }
    }

    /// Of the process that decodes the next picture; `nil` where it was given up before it had come up.
    private func process(of workers: PictureWorkers) -> pid_t? {
        let error = #expect(throws: PhotoError.self) {
            try decode(ScriptedWorker.told(["tells": "process"]), by: workers)
        }
        return error.flatMap { pid_t($0.message) }
    }

    /// Of the process that decodes the next picture.
    private func process() throws -> pid_t {
        try #require(process(of: pictures))
    }

    private func isThere(_ process: pid_t) -> Bool { kill(process, 0) == 0 }

    @Test func `one worker serves many pictures, and closing ends it`() throws {
        let first = try process()
        #expect(try decode(ScriptedWorker.reply()) == PixelSize(width: 4, height: 2))
        #expect(try process() == first)
        pictures.close()
        #expect(!isThere(first))
    }

    @Test(arguments: [
        (["signal": 11], PhotoError.Code.corrupt, "signal 11"), (["signal": 6], .corrupt, "signal 6"),
        // No picture makes a decoder do so: it is no decoder, or lacks a library.
        (["exit": 3], .outOfResources, "exit code 3"),
    ])
    func `a worker that dies costs its picture, and the next picture gets another one`(
        order: [String: Int], code: PhotoError.Code, reason: String
    ) throws {
        let first = try process()
        let error = #expect(throws: PhotoError.self) { try decode(ScriptedWorker.told(order)) }
        #expect(error?.code == code)
        #expect(error?.message.contains(reason) == true)
        #expect(try process() != first)
        #expect(!isThere(first))
        pictures.close()
    }

    @Test(arguments: ["idly", "busily"]) func `a worker that does not answer is ended`(how: String) throws {
        let (pictures, first) = try hasty()
        let error = #expect(throws: PhotoError.self) { try decode(ScriptedWorker.told(["hang": how]), by: pictures) }
        #expect(error == .tooSlow)
        #expect(!isThere(first))
        var next: pid_t?
        for _ in 0..<100 where next == nil { next = process(of: pictures) }
        #expect(next != nil && next != first)
        pictures.close()
    }

    @Test func `a worker that does nothing is ended as soon, and is no fault of the picture`() throws {
        // Ten times as long would be too slow: whoever has to look is not held up for as long as that.
        let (pictures, _) = try hasty(wall: .seconds(1), processor: .seconds(3_600))
        let error = #expect(throws: PhotoError.self) { try decode(ScriptedWorker.told(["hang": "idly"]), by: pictures) }
        #expect(error?.code == .outOfResources)
        #expect(error?.message.contains("did nothing") == true)
        pictures.close()
    }

    @Test func `a worker that was killed from outside is no fault of the picture`() throws {
        let error = #expect(throws: PhotoError.self) { try decode(ScriptedWorker.told(["signal": 9])) }
        #expect(error?.isPermanent == false)
    }

    @Test func `whoever is cancelled waits no longer, and leaves no worker`() async throws {
        let pictures = PictureWorkers(programs: [worker.program])
        let pool = BlockingPool(name: "test", threads: 1)
        let limits = limits
        let task = Task {
            try await pool.run {
                try pictures.decoded(ScriptedWorker.told(["hang": "idly"]), as: .png, within: limits) {
                    (picture) throws(PhotoError) -> PixelSize in picture.size
                }
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await pool.shutDown()
        pictures.close()
    }

    @Test func `a worker that has ended by itself is replaced without a word`() throws {
        let first = try process()
        #expect(try decode(ScriptedWorker.reply(["leaves": true])) == PixelSize(width: 4, height: 2))
        // A zombie, until we have waited for it.
        while try !String(contentsOfFile: "/proc/\(first)/stat", encoding: .utf8).contains(") Z ") { sched_yield() }
        #expect(try process() != first)
        #expect(!isThere(first))
        pictures.close()
    }

    @Test func `a worker that has ended by itself can be taken off the process table before the next picture`() throws {
        let first = try process()
        pictures.removeEnded()
        #expect(isThere(first))
        #expect(try decode(ScriptedWorker.reply(["leaves": true])) == PixelSize(width: 4, height: 2))
        while try !String(contentsOfFile: "/proc/\(first)/stat", encoding: .utf8).contains(") Z ") { sched_yield() }
        pictures.removeEnded()
        #expect(!isThere(first))
    }

    @Test func `a worker has nothing of ours but its socket`() throws {
        let error = #expect(throws: PhotoError.self) { try decode(ScriptedWorker.told(["tells": "surroundings"])) }
        #expect(error?.message == "3 descriptors, 0 bytes, leads True")
        pictures.close()
    }

    @Test func `a picture that takes more room than usual is decoded with all of it`() throws {
        #expect(try decode(ScriptedWorker.reply(["needs": 400 << 20])) == PixelSize(width: 4, height: 2))
        let error = #expect(throws: PhotoError.self) { try decode(ScriptedWorker.reply(["needs": 600 << 20])) }
        #expect(error?.code == .overLimit)
        pictures.close()
    }

    @Test(arguments: [
        ["status": 99], ["width": 0], ["width": -4], ["width": 1 << 30, "height": 1 << 30], ["height": 3],
        ["orientation": 0], ["orientation": 9], ["colour": 0], ["colour": 4], ["colour": 3],
        ["colour": 2, "horizontal": 0], ["colour": 2, "horizontal": 3, "vertical": 1], ["samples_bytes": 7],
        ["samples_bytes": 9], ["samples_offset": 1], ["samples_offset": Int.max], ["memory": 7],
        ["icc_offset": 4, "icc_bytes": 5], ["icc_bytes": Int.max], ["exif_offset": 8, "exif_bytes": 1], ["raw": 1],
        ["raw": 335], ["raw": 337], ["raw": 5_000],
    ])
    func `an answer that makes no sense ends its worker and costs its picture`(lie: [String: Int]) throws {
        let first = try process()
        let error = #expect(throws: PhotoError.self) { try decode(ScriptedWorker.reply(lie)) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("nonsense") == true)
        #expect(!isThere(first))
        #expect(try decode(ScriptedWorker.reply()) == PixelSize(width: 4, height: 2))
        pictures.close()
    }

    @Test func `words of a worker cannot steer a terminal`() throws {
        let source = ScriptedWorker.told(["status": 2, "message": "bad\u{1B}[2J\n\u{7}data"])
        let error = #expect(throws: PhotoError.self) { try decode(source) }
        #expect(error?.message == "the picture's data is damaged (bad[2Jdata)")
    }

    @Test func `the block of EXIF is taken from where it lies`() throws {
        let source = ScriptedWorker.reply([
            "memory": 40, "exif_offset": 20, "exif_bytes": 4, "write": [[20, "4d4d002a"]],
        ])
        let exif = try pictures.decoded(source, as: .png, within: limits) { (picture) throws(PhotoError) in
            picture.exif
        }
        #expect(exif?.bytes == Array("MM\0*".utf8))
        pictures.close()
    }

    @Test func `without a program there is nothing to decode with`() {
        let none = PictureWorkers(programs: ["/nowhere/worker"], memory: DecodingBudget(bytes: 1 << 30))
        #expect(none.program == nil)
        let error = #expect(throws: PhotoError.self) {
            try none.decoded(ScriptedWorker.reply(), as: .png, within: limits) { (picture) throws(PhotoError) in
                picture.size
            }
        }
        #expect(error?.isPermanent == false)
    }

    @Test func `the memory of pictures that are decoded is bounded for all of them`() {
        let usual = PictureRoom.usual(limits).bytes
        #expect(3 * usual <= limits.memory)
        #expect(PictureRoom.all(limits).bytes >= limits.memory)
    }
}
