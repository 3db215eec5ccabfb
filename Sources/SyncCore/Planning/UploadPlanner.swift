package import SystemPackage

/// What is to be done with a file that was examined.
package enum UploadPlan: Hashable, Sendable {
    case store(PlannedUpload)
    /// It may hold gallery events: their photos are stored, and their text stays.
    case readEvents
    /// Not something that its folder stores.
    case skip(reason: String, LeftOut? = nil)
}

package struct PlannedUpload: Hashable, Sendable {
    package var key: ObjectKey
    package var condition: PutCondition
    /// What the bytes are; for a project's JSON the name decides, everything else is told by content.
    package var type: MediaType

    /// The project whose image it is: earlier images of it are kept. `nil` for everything else.
    package var project: String?

    package init(key: ObjectKey, condition: PutCondition, type: MediaType) {
        self.key = key
        self.condition = condition
        self.type = type
    }
}

/// Decides where a file goes. No I/O.
///
/// Photos of galleries and vacations share one content-addressed pool, so that a photo is stored once however many names
/// it has. A project's files keep their names, and a newer version replaces the older one.
package struct UploadPlanner: Hashable, Sendable {
    package let keys: KeyLayout

    package init(keys: KeyLayout) {
        self.keys = keys
    }

    /// - Parameter relativePath: below the watched folder.
    /// - Throws: ``InvalidName`` when a project's file name cannot be an object key.
    package func plan(
        kind: WatchedFolder.Kind, relativePath: FilePath, examined: PhotoExamination
    ) throws(InvalidName) -> UploadPlan {
        switch kind {
        case .gallery where examined.type == .json:
            return .readEvents
        case .gallery, .vacations:
            guard examined.type.kind != .other else {
                let isNamedAsEvents = ["json", "jsonl", "ndjson"].contains(relativePath.extension?.lowercased())
                if kind == .gallery, isNamedAsEvents, examined.stamp.size > 0 {
                    return .skip(reason: "it may hold gallery events and cannot be read: it is no JSON", .unreadable)
                }
                return .skip(reason: "neither a photo nor a video; it stays on this machine")
            }
            return .store(try pooled(examined.id, examined.type))
        case .projects:
            let isJSON = relativePath.extension?.lowercased() == "json"
            let type = examined.type.kind == .other && isJSON ? MediaType.json : examined.type
            guard type.kind == .jpeg || type.kind == .image || type == .json else {
                return .skip(
                    reason: "a projects folder stores images and JSON only", type.kind == .video ? .unfit : nil)
            }
            return .store(
                PlannedUpload(key: try keys.projectFile(relativePath.string), condition: .overwrite, type: type))
        }
    }

    /// Where a photo goes that is no file of its own.
    package func pooled(_ id: PhotoID, _ type: MediaType) throws(InvalidName) -> PlannedUpload {
        PlannedUpload(key: try keys.photo(id), condition: .ifAbsent, type: type)
    }
}
