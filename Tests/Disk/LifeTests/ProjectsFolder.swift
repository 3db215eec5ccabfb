import FoundationEssentials
import Glibc
import SyncTestSupport
import SystemPackage

/// The folder in which another app keeps the images that it makes, and the list of them. One of the system's: who deletes
/// a project rewrites the list there.
final class ProjectsFolder: Sendable {
    private static let folder = "projects"
    private static let list = "projects.json"

    let path: FilePath
    private let tree: TemporaryTree
    private let clock: LifeClock

    init(in tree: TemporaryTree, clock: LifeClock) throws {
        self.tree = tree
        self.clock = clock
        path = try tree.makeFolder(Self.folder)
        // Of a folder that never had a list, all is stored that is in it.
        try write("[]", to: Self.list)
    }

    // MARK: What the app does

    /// Makes an image, and puts its record behind the others.
    func add(_ id: String, _ text: String) throws {
        try replace(id, by: text)
        let record = """
            {"id": "\(id)", "templateId": "\(id)", "templateName": "T \(id)", \
            "createdAt": \(Int(clock.now.timeIntervalSince1970)), "status": "Completed"}
            """
        let old = try listText
        guard let end = old.lastIndex(of: "]") else { preconditionFailure("the list has no end: \(old)") }
        let others = old.contains("{") ? "\(old[..<end]),\n" : "["
        try write("\(others)\(record)]", to: Self.list)
    }

    /// Makes the image of a project anew.
    func replace(_ id: String, by text: String) throws { try write(text, to: Self.image(id)) }

    private func write(_ text: String, to name: String) throws {
        try setTime(of: try tree.write(text, to: "\(Self.folder)/\(name)"))
    }

    /// The system's clock, by which a list that was rewritten has its time, knows nothing of the home's.
    func setTimeOfList() throws { try setTime(of: path.appending(Self.list)) }

    private func setTime(of file: FilePath) throws {
        let time = timespec(tv_sec: Int(clock.now.timeIntervalSince1970), tv_nsec: 0)
        guard utimensat(AT_FDCWD, file.string, [time, time], 0) == 0 else { throw Errno(rawValue: errno) }
    }

    // MARK: What is there

    static func image(_ id: String) -> String { "\(id).jpg" }

    var listText: String {
        get throws { String(decoding: try tree.read("\(Self.folder)/\(Self.list)"), as: UTF8.self) }
    }

    /// What is left of a project, by the names of its files, and of the list where that names it.
    func traces(of id: String) throws -> [String] {
        let isNamed = try listText.contains("\"\(id)\"")
        return try tree.files(below: Self.folder).filter { $0 == Self.image(id) || (isNamed && $0 == Self.list) }
    }
}
