import GRDB
package import SyncCore

/// Where a photo stands that is named by an event in the same folder.
package struct PhotoBeside: Hashable, Sendable {
    package let state: PhotoState
    /// What is stored of the file as it is; `nil` unless it is uploaded.
    package let object: ObjectRecord?

    /// Whether it is stored, or will be tried without anybody's help.
    package var isOnItsWay: Bool { object != nil || state == .pending || state == .uploading }
}

extension PhotoBeside: FetchableRecord {
    init(row: Row) throws {
        guard let state = PhotoState(rawValue: row[0]) else { throw UnknownName() }
        let isStored = state == .uploaded || state == .missing
        self.init(state: state, object: isStored ? try ObjectRecord(row: row, from: 1) : nil)
    }
}
