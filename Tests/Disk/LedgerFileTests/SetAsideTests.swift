import Foundation
import SyncCore
import SyncSystem
import SystemPackage
import Testing

@testable import SyncLedger

/// A ledger is set aside with its log, whatever comes in between.
@Suite struct SetAsideTests {
    private let state: StateFolder
    private let folder: FolderID
    private static let photos = 50

    /// A ledger whose last commits are in its log alone.
    init() throws {
        let original = try StateFolder()
        let ledger = try Ledger(at: original.ledger)
        folder = try ledger.fill(Self.photos)
        state = try StateFolder()
        try original.copyAsAfterCrash(to: state)
        try ledger.close()
    }

    @Test(arguments: SetAside.Step.allCases, [false, true])
    func `a kill at any step leaves a whole ledger, and the next one is no mixture`(
        step: SetAside.Step, isLinked: Bool
    ) throws {
        let name = try prepare(isLinked: isLinked)
        let killed = try StateFolder()
        _ = try Ledger.moveAside(state.ledger) { (reached) throws(Errno) in
            guard reached == step else { return }
            try Errno.only { try Self.copy(state, to: killed) }
        }
        let isMoved = step == .settle || step == .clear
        let next = try Ledger(at: killed.ledger)
        #expect(try next.check() == [])
        if isMoved {
            #expect(try next.overview().folders.isEmpty)
            _ = try next.fill(1)
            let aside = try Ledger(at: killed.path.appending(name + ".damaged"))
            #expect(try aside.check() == [])
            #expect(try aside.knownFileCount(folder) == Self.photos)
            try aside.close()
        } else {
            #expect(try next.knownFileCount(folder) == Self.photos)
        }
        try next.close()
    }

    @Test(arguments: [SetAside.Step.reserve, .keepLog, .move, .settle], [false, true])
    func `an error leaves all where it was`(step: SetAside.Step, isLinked: Bool) throws {
        _ = try prepare(isLinked: isLinked)
        let (earlier, log) = (try names(), try state.read(LedgerFile.log(of: state.ledger)))
        #expect(throws: Errno.ioError) {
            try Ledger.moveAside(state.ledger) { (reached) throws(Errno) in
                if reached == step { throw Errno.ioError }
            }
        }
        #expect(try names() == earlier)
        #expect(try state.read(LedgerFile.log(of: state.ledger)) == log)
        let ledger = try Ledger(at: state.ledger)
        #expect(try ledger.knownFileCount(folder) == Self.photos)
        try ledger.close()
    }

    @Test(arguments: ["-wal", "-shm"])
    func `what an earlier one has left beside a name is not replaced`(suffix: String) throws {
        let left = FilePath(state.ledger.string + ".damaged" + suffix)
        try state.write(Data("of another".utf8), to: left)
        let place = try Ledger.moveAside(state.ledger)
        #expect(place.string == state.ledger.string + ".damaged-2")
        #expect(try state.read(left) == Data("of another".utf8))
    }

    @Test(arguments: [false, true])
    func `what a kill before the move has left is undone by the next try`(isLinked: Bool) throws {
        let name = try prepare(isLinked: isLinked)
        let (file, place) = (state.path.appending(name), state.path.appending(name + ".damaged"))
        try FilePath(file.string + "-wal").link(as: FilePath(place.string + "-wal"))
        if isLinked { try state.write(Data(), to: place) }
        #expect(try Ledger.moveAside(state.ledger).lastComponent?.string == name + ".damaged")
        let aside = try Ledger(at: place)
        #expect(try aside.knownFileCount(folder) == Self.photos)
        try aside.close()
    }

    @Test func `a link that leads nowhere is told as that, with the remedy`() throws {
        let link = state.path.appending("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: "/nowhere/ledger.sqlite")
        let error = #expect(throws: LedgerError.self) { try Ledger(at: link) }
        #expect(error?.code == .unreadable)
        #expect(error?.message.hasPrefix("it is a link that leads nowhere; mount the drive") == true)
    }

    @Test func `a folder that may not be entered is told with its own remedy`() {
        let error = LedgerFile.folderFailure(.permissionDenied, "its folder /s cannot be entered", "/s/ledger.sqlite")
        #expect(error.code == .readOnly)
        #expect(error.message.contains("its folder /s cannot be entered"))
        #expect(error.message.contains("make it this user's (chown) with mode 0700 (chmod)"))
    }

    // MARK: -

    /// - Returns: the name of the file itself.
    private func prepare(isLinked: Bool) throws -> String {
        guard isLinked else { return "ledger.sqlite" }
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(
                atPath: state.ledger.string + suffix, toPath: state.path.appending("real.sqlite").string + suffix)
        }
        // By its name alone, so that it leads to its own file in a copy of the folder.
        try FileManager.default.createSymbolicLink(atPath: state.ledger.string, withDestinationPath: "real.sqlite")
        return "real.sqlite"
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: state.path.string).sorted()
    }

    private static func copy(_ one: StateFolder, to other: StateFolder) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: one.path.string) {
            try FileManager.default.copyItem(
                atPath: one.path.appending(name).string, toPath: other.path.appending(name).string)
        }
    }
}
