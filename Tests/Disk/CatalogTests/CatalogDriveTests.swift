import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Where drives are mounted below watched folders, as the catalogue tells it.
struct CatalogDriveTests {
    private let bench: CatalogBench
    private static let first = DriveIdentity(.disk, uuid: "1111", folder: "/")
    private static let second = DriveIdentity(.disk, uuid: "2222", folder: "/")

    init() throws { bench = try CatalogBench() }

    /// A machine with a photo on a drive, whose catalogue is written as one without drives is.
    private func machine() async throws -> CatalogMachine {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        try await machine.see(["b.jpg": "b"], in: "Usb")
        _ = try await machine.write()
        return machine
    }

    private func mount(_ drive: DriveIdentity, of machine: CatalogMachine) throws {
        try machine.ledger.noteMounts(machine.folder.id, mounted: ["Usb"], at: bench.time.now)
        try machine.ledger.noteDrives(["Usb": drive], of: machine.folder.id)
    }

    /// The same machine with a new ledger.
    private func rebuilt() async throws -> CatalogMachine {
        let machine = try bench.machine("laptop")
        _ = try await machine.rebuild()
        return machine
    }

    private func isWritten(_ machine: CatalogMachine) async throws -> Bool {
        guard case .written = try await machine.write() else { return false }
        return true
    }

    @Test func `a rebuild knows the drives again, and keeps them while they are away`() async throws {
        let machine = try await machine()
        try mount(Self.first, of: machine)
        #expect(try await isWritten(machine))
        #expect(try await !isWritten(machine))
        let new = try await rebuilt()
        let folder = new.folder.id
        #expect(try new.ledger.mounts(of: folder).map(\.path) == ["Usb"])
        #expect(try new.ledger.drives(of: folder) == ["Usb": Self.first])
        let away = try new.ledger.noteMounts(folder, mounted: [], at: bench.time.now)
        #expect(away.map(\.mount.path) == ["Usb"] && away.map(\.files) == [1])
        #expect(try new.ledger.check() == [])
    }

    @Test func `of a catalogue without drives a rebuild knows none`() async throws {
        _ = try await machine()
        let new = try await rebuilt()
        #expect(try new.ledger.mounts(of: new.folder.id).isEmpty && new.ledger.drives(of: new.folder.id).isEmpty)
    }

    @Test func `each change of the drives is written, and the last one counts`() async throws {
        let machine = try await machine()
        try mount(Self.first, of: machine)
        #expect(try await isWritten(machine))
        try mount(Self.second, of: machine)
        #expect(try await isWritten(machine))
        let changed = try await rebuilt()
        #expect(try changed.ledger.drives(of: changed.folder.id) == ["Usb": Self.second])
        try machine.ledger.noteDrives([:], plain: ["Usb"], of: machine.folder.id)
        #expect(try await isWritten(machine))
        let plain = try await rebuilt()
        #expect(try plain.ledger.mounts(of: plain.folder.id).isEmpty)
    }

    @Test func `what the ledger itself knows of a drive stays`() async throws {
        let machine = try await machine()
        try mount(Self.first, of: machine)
        _ = try await machine.write()
        let own = try bench.machine("laptop")
        try mount(Self.second, of: own)
        _ = try await own.rebuild()
        #expect(try own.ledger.drives(of: own.folder.id) == ["Usb": Self.second])
        #expect(try own.ledger.mounts(of: own.folder.id).map(\.isMounted) == [true])
    }

    @Test func `what its own ledger knows to be on a drive that is away stays so`() async throws {
        let machine = try await machine()
        try await machine.see(["c.jpg": "c"], in: "Trips")
        try mount(Self.first, of: machine)
        _ = try await machine.write()
        machine.disk.setDrive(machine.folder.path.appending("Usb"), isMounted: false)
        machine.disk.remove(machine.folder.path.pushing("Trips/c.jpg"))
        _ = try await machine.rebuild()
        let known: Set<String> = [
            "/pictures/Gallery/a.jpg uploaded", "/pictures/Gallery/Usb/b.jpg uploaded",
            "/pictures/Gallery/Trips/c.jpg missing",
        ]
        #expect(try machine.known() == known)
    }

    @Test func `what its own ledger knows to be on a drive that takes turns stays so`() async throws {
        let machine = try await machine()
        try mount(Self.first, of: machine)
        try await machine.see(["c.jpg": "c"], in: "Usb", on: .found(Self.second, at: "Usb", isExpected: false))
        _ = try await machine.write()
        let usb = machine.folder.path.appending("Usb")
        machine.disk.setDrive(usb, isMounted: true)
        machine.disk.setIdentity(Self.first, at: usb)
        machine.disk.remove(usb.appending("c.jpg"))
        _ = try await machine.rebuild()
        let known: Set<String> = [
            "/pictures/Gallery/a.jpg uploaded", "/pictures/Gallery/Usb/b.jpg uploaded",
            "/pictures/Gallery/Usb/c.jpg uploaded",
        ]
        #expect(try machine.known() == known)
    }

    @Test func `a photo of a drive that takes turns is known on it after a rebuild, and others go by the place`()
        async throws
    {
        let machine = try await machine()
        try mount(Self.first, of: machine)
        try await machine.see(["c.jpg": "c"], in: "Usb", on: .found(Self.second, at: "Usb", isExpected: false))
        _ = try await machine.write()
        let new = try await rebuilt()
        #expect(try new.ledger.drive(ofFile: "Usb/c.jpg", in: new.folder.id) == Self.second)
        for file in ["a.jpg", "Usb/b.jpg"] as [FilePath] {
            #expect(try new.ledger.drive(ofFile: file, in: new.folder.id) == nil, "\(file)")
        }
        #expect(try new.ledger.check() == [])
    }

    @Test func `a photo that is seen on another drive than before is written again`() async throws {
        let machine = try await machine()
        try mount(Self.first, of: machine)
        #expect(try await isWritten(machine))
        func see(on drive: DriveIdentity) async throws {
            let seen = SeenDrive.found(drive, at: "Usb", isExpected: drive == Self.first)
            try await machine.see(["b.jpg": "b"], in: "Usb", on: seen)
        }
        func known() async throws -> DriveIdentity? {
            let new = try await rebuilt()
            return try new.ledger.drive(ofFile: "Usb/b.jpg", in: new.folder.id)
        }
        // Of the one that is known of the place, the line of the folder tells.
        try await see(on: Self.first)
        #expect(try await !isWritten(machine))
        try await see(on: Self.second)
        #expect(try await isWritten(machine))
        #expect(try await known() == Self.second)
        try await see(on: Self.first)
        #expect(try await isWritten(machine))
        #expect(try await known() == nil)
    }

    @Test func `what was met on a drive that told nothing stays so while one that tells of itself has its place`()
        async throws
    {
        let machine = try await machine()
        let root = machine.folder.path
        machine.disk.remove(root.appending("a.jpg"))
        machine.disk.write("another", to: root.appending("d.jpg"))
        machine.disk.setIdentity(Self.second, at: root)
        _ = try await machine.rebuild()
        #expect(try machine.known() == ["/pictures/Gallery/a.jpg uploaded", "/pictures/Gallery/Usb/b.jpg uploaded"])
    }

    @Test func `where the whole folder is on another drive for certain, what is not seen is gone`() async throws {
        let machine = try await machine()
        let root = machine.folder.path
        try machine.ledger.noteDrives([FilePath(): Self.first], of: machine.folder.id)
        machine.disk.remove(root.appending("a.jpg"))
        machine.disk.setIdentity(Self.second, at: root)
        _ = try await machine.rebuild()
        #expect(try machine.known() == ["/pictures/Gallery/a.jpg missing", "/pictures/Gallery/Usb/b.jpg uploaded"])
    }

    @Test func `drives of another machine are none of this one's`() async throws {
        let machine = try await machine()
        try mount(Self.first, of: machine)
        _ = try await machine.write()
        let other = try bench.machine("desktop")
        try await other.see(["c.jpg": "c"])
        _ = try await other.write()
        _ = try await other.rebuild()
        let folders = try other.ledger.catalogFolders()
        #expect(folders.count == 1 && folders[0].drives == nil)
    }
}
