/// Which watch stands for which folder below one root. Each folder knows its name and its parent, so a rename moves
/// everything below it in one step.
struct WatchTree {
    typealias WatchID = InotifyEvent.WatchID

    struct Folder {
        /// `nil` for the root.
        fileprivate(set) var parent: WatchID?
        fileprivate(set) var name: EntryName?
        fileprivate var children: [EntryName: WatchID] = [:]
        var access: FolderAccess
    }

    private var folders: [WatchID: Folder] = [:]

    var count: Int { folders.count }

    subscript(id: WatchID) -> Folder? { folders[id] }

    func child(_ name: EntryName, of parent: WatchID) -> WatchID? {
        folders[parent]?.children[name]
    }

    mutating func update(_ access: FolderAccess, of id: WatchID) {
        folders[id]?.access = access
    }

    mutating func insertRoot(_ id: WatchID, access: FolderAccess) {
        folders[id] = Folder(parent: nil, name: nil, access: access)
    }

    /// Puts a folder under `parent`; when it stood elsewhere it is moved, with what is below it.
    /// - Returns: the watches that stood for what had this name before; `nil`, and nothing is done, when `parent` is
    ///   below the folder or unknown.
    mutating func place(
        _ id: WatchID, named name: EntryName, under parent: WatchID, access: FolderAccess
    ) -> [WatchID]? {
        guard folders[parent] != nil, !isAt(parent, orBelow: id) else { return nil }
        var folder = folders[id] ?? Folder(access: access)
        // First out of its old place: that may be below what is displaced, and it stays.
        if let old = folder.parent, let oldName = folder.name { folders[old]?.children[oldName] = nil }
        let displaced = child(name, of: parent).map { remove($0) } ?? []
        folder.parent = parent
        folder.name = name
        folder.access = access
        folders[id] = folder
        folders[parent]?.children[name] = id
        return displaced
    }

    /// Takes out a folder and all below it.
    /// - Returns: their watches.
    mutating func remove(_ id: WatchID) -> [WatchID] {
        guard let top = folders[id] else { return [] }
        if let parent = top.parent, let name = top.name { folders[parent]?.children[name] = nil }
        var removed: [WatchID] = []
        var pending = [id]
        while let next = pending.popLast() {
            guard let folder = folders.removeValue(forKey: next) else { continue }
            removed.append(next)
            pending.append(contentsOf: folder.children.values)
        }
        return removed
    }

    /// Where a watched folder is, relative to the root.
    func path(of id: WatchID) -> RelativePath {
        var names: [EntryName] = []
        var current = folders[id]
        while let name = current?.name {
            names.append(name)
            current = current?.parent.flatMap { folders[$0] }
        }
        return RelativePath(names.reversed())
    }

    private func isAt(_ id: WatchID, orBelow ancestor: WatchID) -> Bool {
        var current: WatchID? = id
        while let here = current {
            if here == ancestor { return true }
            current = folders[here]?.parent
        }
        return false
    }
}
