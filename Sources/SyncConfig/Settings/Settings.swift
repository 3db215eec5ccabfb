package import SyncCore
import SystemPackage

/// A whole configuration, checked. docs/design.md, section 6, names the keys; `config reference` explains them.
package struct Settings: Hashable, Sendable {
    /// Valid for ``SyncCore/KeyLayout``.
    package var user: String
    package var store: StoreSettings
    package var watch: [WatchedFolder]
    package var photos: PhotoSettings
    package var upload: UploadSettings
    package var tiers: TierSettings
    package var retention: RetentionSettings
    package var restore: RestoreSettings
    package var cost: CostSettings
    package var share: ShareSettings
    package var verify: VerifySettings
    package var projects: ProjectSettings
    package var notify: NotifySettings
}

extension Settings {
    init(from reader: inout SettingsReader) {
        user = reader.value(ConfigKeys.user)
        store = StoreSettings(from: &reader)
        watch = Self.watchedFolders(from: &reader, store: store)
        photos = PhotoSettings(from: &reader)
        upload = UploadSettings(from: &reader)
        tiers = TierSettings(from: &reader)
        retention = RetentionSettings(from: &reader)
        restore = RestoreSettings(from: &reader)
        cost = CostSettings(from: &reader)
        share = ShareSettings(from: &reader)
        verify = VerifySettings(from: &reader)
        projects = ProjectSettings(from: &reader)
        notify = NotifySettings(from: &reader)
    }

    private static func watchedFolders(
        from reader: inout SettingsReader, store: StoreSettings
    ) -> [WatchedFolder] {
        var watched: [WatchedFolder] = []
        var rules = FolderRules(folders: [], reserved: [(reader.location.stateFolder, "the state folder")])
        // The path is empty when it was refused, and an empty path lies in everything.
        if case .directory(let directory) = store, !directory.path.isEmpty {
            rules.reserved.append((directory.path, "the store"))
        }

        for entry in reader.entryLines(of: "watch").indices {
            let kind = reader.value(ConfigKeys.watchKind, entry: entry)
            let profile = reader.value(ConfigKeys.watchProfile, entry: entry)
            let profilePath = SettingsReader.path(ConfigKeys.watchProfile.path, entry: entry)
            if profile != nil, kind != .gallery {
                reader.add("only a folder of kind gallery has a profile, this one is of kind \(kind)", at: profilePath)
            }
            guard let path = reader.path(ConfigKeys.watchPath, entry: entry) else { continue }
            rules.folders.append(FolderRules.Folder(path: path, kind: kind, entry: entry))
            watched.append(WatchedFolder(kind: kind, path: path, profile: profile))
        }
        for (entry, message) in rules.violations {
            reader.add(message, at: SettingsReader.path(ConfigKeys.watchPath.path, entry: entry))
        }
        return watched
    }
}
