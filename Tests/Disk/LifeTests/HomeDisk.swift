import FoundationEssentials
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import SyncWatch
import SystemPackage

/// The disk of a home, with the folders of other apps, which are the system's.
struct HomeDisk: TreeScanner, PhotoReducer {
    let fake: FakeDisk
    /// Where an app keeps events; `nil` where there is none.
    let events: FilePath?
    /// Where an app keeps projects. What begins with `image` there is a JPEG, whose reduced copy is the same text.
    let projects: FilePath?
    private let system = FileTreeScanner()

    init(_ fake: FakeDisk, events: FilePath?, projects: FilePath?) {
        self.fake = fake
        self.events = events
        self.projects = projects
    }

    private func isEvents(_ path: FilePath) -> Bool { events.map { path.starts(with: $0) } ?? false }
    private func isProjects(_ path: FilePath) -> Bool { projects.map { path.starts(with: $0) } ?? false }
    private func isOfSystem(_ path: FilePath) -> Bool { isEvents(path) || isProjects(path) }

    // MARK: TreeScanner

    func scan(root: FilePath, from start: FilePath, visit: (ScannedFolder) throws -> Void) throws {
        let scanner: any TreeScanner = isOfSystem(root) ? system : fake
        try scanner.scan(root: root, from: start, visit: visit)
    }

    func stamp(of file: FilePath) throws(ScanError) -> FileStamp? {
        if isOfSystem(file) { return try system.stamp(of: file) }
        return try fake.stamp(of: file)
    }

    func mountPoints(below root: FilePath) -> [FilePath] { fake.mountPoints(below: root) }
    func mountTable() -> [UInt8] { fake.mountTable() }
    func drive(at path: FilePath) -> DriveIdentity? { fake.drive(at: path) }
    func isThere(_ path: FilePath) -> Bool { fake.isThere(path) }
    /// The system would tell of descriptors that children of other tests hold until their execve(2).
    func isBeingWritten(_ file: FilePath) -> Bool { fake.isBeingWritten(file) }

    // MARK: PhotoReducer

    func examine(_ file: FilePath) throws(PhotoError) -> PhotoFacts {
        guard isOfSystem(file) else { return try fake.examine(file) }
        let (bytes, stamp) = try content(of: file)
        let type: MediaType =
            isEvents(file) ? .json : bytes.starts(with: Array("image".utf8)) ? .jpeg : .unknown
        return PhotoFacts(stamp: stamp, type: type, digest: ContentDigest(of: bytes))
    }

    func whyUnwanted(_ file: FilePath, stamp: FileStamp) -> String? {
        isOfSystem(file) ? nil : fake.whyUnwanted(file, stamp: stamp)
    }

    func reduce(_ file: FilePath, examined: PhotoFacts, policy: ReducePolicy) throws(PhotoError) -> StoredCopy {
        guard isProjects(file) else { return try fake.reduce(file, examined: examined, policy: policy) }
        let (bytes, stamp) = try content(of: file)
        guard stamp == examined.stamp else { throw PhotoError(.changed, "it changed") }
        return StoredCopy(content: .reduced(bytes), type: examined.type, digest: ContentDigest(of: bytes))
    }

    func reduce(_ photo: [UInt8], as type: MediaType?, policy: ReducePolicy) throws(PhotoError) -> StoredCopy {
        try fake.reduce(photo, as: type, policy: policy)
    }

    func read(_ file: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        guard isOfSystem(file) else { return try fake.read(file, range, stamp: stamp) }
        let (bytes, found) = try content(of: file)
        guard found == stamp else { throw PhotoError(.changed, "it changed") }
        return Array(bytes[range])
    }

    /// Nobody writes while a process is at work.
    private func content(of file: FilePath) throws(PhotoError) -> (bytes: [UInt8], stamp: FileStamp) {
        do {
            let stamp = try FileStamp(of: file)
            return (Array(try Data(contentsOf: URL(filePath: file.string))), stamp)
        } catch {
            throw PhotoError(.missing, "it is gone")
        }
    }
}
