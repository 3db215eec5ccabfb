package import SystemPackage

/// A watched folder, by the number that the segment's other lines call it by.
package struct CatalogFolder: Hashable, Sendable, Codable {
    package var folder: Int64
    package var kind: String
    /// Absolute, as ``CatalogPath`` writes it.
    package var path: CatalogPath
    /// `nil` where there is none below it. Earlier versions tell of none.
    package var drives: [CatalogDrive]?

    package init(folder: Int64, kind: String, path: FilePath, drives: [CatalogDrive] = []) {
        self.folder = folder
        self.kind = kind
        self.path = CatalogPath(path)
        self.drives = drives.isEmpty ? nil : drives
    }
}

/// A place below a watched folder at which a drive is mounted, or was when photos were seen there.
package struct CatalogDrive: Hashable, Sendable, Codable {
    /// Below the folder.
    package var path: CatalogPath
    /// What its file system is recognised by, as ``DriveIdentity/text``; `nil` where nothing tells.
    package var drive: String?

    package init(path: FilePath, drive: DriveIdentity?) {
        self.path = CatalogPath(path)
        self.drive = drive?.inCatalog?.text
    }
}

extension DriveIdentity {
    /// As catalogues tell of it; `nil` where nothing is left that tells it from others. What was mounted of a server
    /// stays on the machine: a password may stand in that.
    var inCatalog: DriveIdentity? {
        if uuid == nil, fsid == nil { return nil }
        return DriveIdentity(kind, uuid: uuid, fsid: fsid, folder: folder)
    }
}
