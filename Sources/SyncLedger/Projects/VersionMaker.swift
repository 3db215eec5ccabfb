import GRDB
package import SyncCore

/// Whose an earlier state of a file in a projects folder is: machines of one user may have files of one name, whose
/// versions are in one place.
package enum VersionMaker: String, Hashable, Sendable {
    /// This machine's, or of one in whose place it goes on.
    case this
    case other
    /// It was found in the store, and does not tell who has stored it.
    case unknown

    /// By what was written with an object. Its copies have that, too.
    /// - Parameter status: of this machine.
    package init(of object: ObjectInfo, _ status: CatalogStatus) {
        guard let machine = object.metadata[MetadataName.machine] else {
            self = .unknown
            return
        }
        self = machine == status.machine || status.replaces[machine] != nil ? .this : .other
    }
}

extension Ledger {
    /// - Returns: `nil` for what this ledger does not know as a version.
    package func maker(ofVersion key: ObjectKey) throws(LedgerError) -> VersionMaker? {
        try read("look up whose a version is") { db in
            try db.texts("SELECT maker FROM project_versions WHERE key = ?", [key.rawValue]).first
                .flatMap { VersionMaker(rawValue: $0) }
        }
    }

    /// Notes of what objects are earlier states: no catalogue tells it.
    package func noteProjectVersions(
        _ versions: [(key: ObjectKey, subject: String, maker: VersionMaker)]
    ) throws(LedgerError) {
        if versions.isEmpty { return }
        try write("note versions of projects") { db in
            for version in versions { try db.noteVersion(version.key, of: version.subject, version.maker) }
        }
    }

    /// By which catalogues, and what is stored under the names of files, tell this machine from others.
    package func machineID() throws(LedgerError) -> String {
        try read("read the id of this machine") { db in
            guard let id = try db.texts("SELECT machine_id FROM agent WHERE machine_id IS NOT NULL").first else {
                throw UnknownName()
            }
            return id
        }
    }
}

extension Database {
    /// What is known of its maker counts, and what this machine has done itself.
    /// - Parameter subject: the file, as its versions are called.
    func noteVersion(_ key: ObjectKey, of subject: String, _ maker: VersionMaker) throws {
        try run(
            """
            INSERT INTO project_versions (project_id, key, maker) VALUES (?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET maker = excluded.maker
                WHERE excluded.maker = 'this' OR project_versions.maker = 'unknown'
            """, [subject, key.rawValue, maker.rawValue])
    }
}
