import Foundation
import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage
import Testing

@Suite struct LedgerFileTests {
    @Test func `a new ledger and its folders are private`() throws {
        let state = try StateFolder()
        let path = state.path.appending("deep").appending("state").appending("ledger.sqlite")
        let ledger = try Ledger(at: path)
        _ = try ledger.fill(1)
        #expect(try state.mode(of: path) == 0o600)
        #expect(try state.mode(of: FilePath(path.string + "-wal")) == 0o600)
        #expect(try state.mode(of: path.removingLastComponent()) == 0o700)
        #expect(try state.mode(of: state.path.appending("deep")) == 0o700)
    }

    @Test func `a state folder that others can write to, and a ledger that they can read, are tightened`() throws {
        let state = try StateFolder()
        try Ledger(at: state.ledger).close()
        for suffix in ["", "-wal", "-shm"] {
            let file = state.ledger.string + suffix
            try? FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: state.path.string)
        let ledger = try Ledger(at: state.ledger)
        _ = try ledger.fill(1)
        #expect(try state.mode(of: state.path) == 0o700)
        #expect(try state.mode(of: state.ledger) == 0o600)
        #expect(try state.mode(of: FilePath(state.ledger.string + "-wal")) == 0o600)
        try ledger.close()
    }

    @Test func `a folder that others can only look into stays as its owner made it`() throws {
        let state = try StateFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: state.path.string)
        try Ledger(at: state.ledger).close()
        #expect(try state.mode(of: state.path) == 0o755)
    }

    @Test(.enabled(if: geteuid() == 0, "to give a folder to somebody else takes root"))
    func `a folder of somebody else that everybody can write to is refused with the way out`() throws {
        let state = try StateFolder()
        #expect(chown(state.path.string, 12_345, 12_345) == 0 && chmod(state.path.string, 0o777) == 0)
        let error = #expect(throws: LedgerError.self) { try Ledger(at: state.ledger) }
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains("uid 12345") == true && error?.message.contains("XDG_STATE_HOME") == true)
        #expect(try state.size(of: state.ledger) == nil)
    }

    @Test func `a ledger behind a link is set aside where it lies, and so is the next one`() throws {
        let state = try StateFolder()
        let disk = state.path.appending("disk")
        try FileManager.default.createDirectory(atPath: disk.string, withIntermediateDirectories: false)
        let file = disk.appending("real.sqlite")
        try FileManager.default.createSymbolicLink(
            atPath: state.ledger.string, withDestinationPath: file.string)
        for number in 1...2 {
            try state.write(Data("ruin".utf8), to: file)
            try state.write(Data("log".utf8), to: FilePath(file.string + "-wal"))
            let place = try Ledger.moveAside(state.ledger)
            #expect(place.lastComponent?.string == (number == 1 ? "real.sqlite.damaged" : "real.sqlite.damaged-2"))
            #expect(try state.read(place) == Data("ruin".utf8))
            #expect(try state.read(FilePath(place.string + "-wal")) == Data("log".utf8))
            let ledger = try Ledger(at: state.ledger)
            _ = try ledger.fill(1)
            try ledger.close()
            #expect(try state.size(of: file) ?? 0 > 0)
            #expect(try state.mode(of: file) == 0o600)
        }
    }

    @Test func `what keeps a new file from being made leaves no link that leads nowhere`() throws {
        let state = try StateFolder()
        let file = state.path.appending("real.sqlite")
        try state.write(Data("ruin".utf8), to: file)
        try FileManager.default.createSymbolicLink(
            atPath: state.ledger.string, withDestinationPath: file.string)
        // In the place of the file that would become the next ledger's.
        try FileManager.default.createDirectory(
            atPath: NewFile.path(for: file).string, withIntermediateDirectories: false)
        let place = try Ledger.moveAside(state.ledger)
        #expect(try state.read(place) == Data("ruin".utf8))
        try Ledger(at: state.ledger).close()
    }

    @Test(arguments: [false, true]) func `what has the name of a damaged ledger stays, whatever it is`(
        isLinked: Bool
    ) throws {
        let state = try StateFolder()
        let file = isLinked ? state.path.appending("real.sqlite") : state.ledger
        if isLinked {
            try FileManager.default.createSymbolicLink(
                atPath: state.ledger.string, withDestinationPath: file.string)
        }
        try state.write(Data("ruin".utf8), to: file)
        let (first, second) = (file.string + ".damaged", file.string + ".damaged-2")
        try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: second, withDestinationPath: "elsewhere")
        let place = try Ledger.moveAside(state.ledger)
        #expect(place.lastComponent?.string == (file.lastComponent?.string ?? "") + ".damaged-3")
        #expect(try state.read(place) == Data("ruin".utf8))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: second) == "elsewhere")
    }

    @Test func `a ledger keeps what it knows, and leaves nothing open`() throws {
        let state = try StateFolder()
        var ledger = try Ledger(at: state.ledger)
        let folder = try ledger.fill(3)
        try ledger.close()
        #expect(try state.size(of: FilePath(state.ledger.string + "-wal")) ?? 0 == 0)
        #expect(try state.openDescriptors() == 0)
        ledger = try Ledger(at: state.ledger)
        #expect(try ledger.knownFileCount(folder) == 3)
        #expect(try ledger.check() == [])
    }

    @Test(arguments: [Ledger.Connections.pool, .single])
    func `a closed ledger says so`(connections: Ledger.Connections) throws {
        let state = try StateFolder()
        try Ledger(at: state.ledger).close()
        let ledger = try Ledger(at: state.ledger, connections: connections)
        try ledger.close()
        let calls: [() throws -> Void] = [
            { _ = try ledger.overview() }, { _ = try ledger.claim(limit: 1, at: Date(timeIntervalSince1970: 0)) },
        ]
        for call in calls {
            let error = #expect(throws: LedgerError.self) { try call() }
            #expect(error?.message.hasPrefix("the ledger is closed") == true)
        }
    }

    @Test(arguments: [Ledger.Connections.pool, .single])
    func `a file that is no database is refused and not touched`(connections: Ledger.Connections) throws {
        let state = try StateFolder()
        let text = Data(String(repeating: "holiday pictures\n", count: 500).utf8)
        try state.write(text, to: state.ledger)
        let error = #expect(throws: LedgerError.self) { try Ledger(at: state.ledger, connections: connections) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("sync-agent rebuild") == true)
        #expect(try state.read(state.ledger) == text)
    }

    @Test func `a damaged ledger is told`() throws {
        let state = try StateFolder()
        let ledger = try Ledger(at: state.ledger)
        _ = try ledger.fill(2_000)
        try ledger.close()
        var data = try state.read(state.ledger)
        for index in 16_384..<data.count { data[index] = 0xA5 }
        try state.write(data, to: state.ledger)
        let error = #expect(throws: LedgerError.self) { try Ledger(at: state.ledger).photos(at: "/", visit: { _ in }) }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: [Ledger.Connections.pool, .single])
    func `a ledger of a newer version is refused`(connections: Ledger.Connections) throws {
        let state = try StateFolder()
        try Ledger(at: state.ledger).close()
        // The list of migrations, with one that this version does not know.
        var data = try state.read(state.ledger)
        let (known, unknown) = (
            Data("folders, photos, objects, attempts".utf8), Data("folders, photos, objects, albums!!".utf8)
        )
        while let range = data.range(of: known) { data.replaceSubrange(range, with: unknown) }
        try state.write(data, to: state.ledger)
        for _ in 1...2 {
            let error = #expect(throws: LedgerError.self) {
                try Ledger(at: state.ledger, connections: connections)
            }
            #expect(error?.code == .newerSchema)
        }
        #expect(try state.read(state.ledger).range(of: unknown) != nil)
    }

    @Test(arguments: [Ledger.Connections.pool, .single])
    func `a place that cannot hold a file is refused`(connections: Ledger.Connections) throws {
        let state = try StateFolder()
        try state.write(Data(), to: state.path.appending("file"))
        let cases: [(FilePath, LedgerError.Code)] = [
            (state.path, .unreadable), (state.path.appending("file").appending("ledger.sqlite"), .unreadable),
            ("/sys/sync-agent/ledger.sqlite", .readOnly),
        ]
        for (path, code) in cases {
            let error = #expect(throws: LedgerError.self) { try Ledger(at: path, connections: connections) }
            #expect(error?.code == code, "\(error?.description ?? "")")
        }
    }

    @Test(arguments: [Ledger.Connections.pool, .single])
    func `several that create it at once all get it`(connections: Ledger.Connections) throws {
        let state = try StateFolder()
        let path = state.ledger
        let failures = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            do {
                let ledger = try Ledger(at: path, connections: connections)
                _ = try ledger.fill(5)
                try ledger.close()
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock(\.self) == [])
        #expect(try Ledger(at: path).overview().totals[.pending].files == 5)
    }
}
