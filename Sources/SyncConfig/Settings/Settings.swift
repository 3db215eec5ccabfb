package import FoundationEssentials
package import SyncCore
package import SystemPackage

/// A whole configuration, checked. docs/design.md, section 6, names the keys; `config reference` explains them.
package struct Settings: Hashable, Sendable {
    /// Valid for ``SyncCore/KeyLayout``.
    package var user: String
    package var store: StoreSettings
    /// Whether the store keeps a catalogue of names.
    package var catalog: CatalogSwitch
    /// Of this machine, in the catalogue. `nil`: as the host is called.
    package var machineName: String?
    package var watch: [WatchedFolder]
    package var photos: PhotoSettings
    package var upload: UploadSettings
    package var tiers: TierSettings
    package var retention: RetentionSettings
    package var restore: RestoreSettings
    /// A price file in place of the one in the program; absolute.
    package var prices: FilePath?
    package var share: ShareSettings
    package var verify: VerifySettings
    /// How many versions of a project's image stay reachable.
    package var projectVersions: Int
    package var serve: ServeSettings
    package var notify: NotifySettings
    package var metrics: MetricsSettings

    init(from reader: inout SettingsReader) {
        user = reader.value(ConfigKeys.user)
        store = StoreSettings(from: &reader)
        catalog = reader.value(ConfigKeys.catalog)
        machineName = reader.value(ConfigKeys.machineName)
        watch = Self.watchedFolders(from: &reader, store: store)
        photos = PhotoSettings(from: &reader)
        upload = UploadSettings(from: &reader)
        tiers = TierSettings(from: &reader)
        retention = RetentionSettings(from: &reader)
        restore = RestoreSettings(from: &reader)
        prices = reader.optionalPath(ConfigKeys.prices)
        share = ShareSettings(from: &reader)
        verify = VerifySettings(from: &reader)
        projectVersions = reader.value(ConfigKeys.projectVersions)
        serve = ServeSettings(from: &reader)
        notify = NotifySettings(from: &reader)
        metrics = MetricsSettings(from: &reader, watched: watch)
        if case .s3(let s3) = store, s3.isAccessPoint, tiers.mode == .bucket {
            let origin = reader.isSet(ConfigKeys.tierMode.path) ? "" : " (the default)"
            reader.add(
                "is bucket\(origin), and rules for a bucket cannot be set through an access point (store.bucket); set "
                    + "tiers.mode: agent, or off, or name the bucket", at: ConfigKeys.tierMode.path)
        }
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
            let filter = reader.value(ConfigKeys.watchFilter, entry: entry)
            watched.append(WatchedFolder(kind: kind, path: path, profile: profile, filter: filter))
        }
        for (entry, message) in rules.violations {
            reader.add(message, at: SettingsReader.path(ConfigKeys.watchPath.path, entry: entry))
        }
        return watched
    }
}

/// Where the copies go.
package enum StoreSettings: Hashable, Sendable {
    case directory(DirectoryStoreSettings)
    case s3(S3StoreSettings)
}

package enum StoreType: String, Hashable, Sendable, CaseIterable {
    case directory, s3
}

/// The embedded store.
package struct DirectoryStoreSettings: Hashable, Sendable {
    /// Absolute, lexically normalised.
    package var path: FilePath
    /// How long it pretends that a restore takes.
    package var restoreDuration: Duration

    package init(path: FilePath, restoreDuration: Duration = .seconds(5)) {
        self.path = path
        self.restoreDuration = restoreDuration
    }
}

/// A bucket. What is `nil` is left to the environment and the shared AWS files.
package struct S3StoreSettings: Hashable, Sendable {
    package enum Encryption: String, Hashable, Sendable, CaseIterable {
        case none
        case ownKeys = "sse-s3"
        case keyService = "sse-kms"
    }

    package enum Switch: String, Hashable, Sendable, CaseIterable {
        case auto, on, off

        /// `nil` for auto.
        package var isOn: Bool? { self == .auto ? nil : self == .on }
    }

    package enum RequestPayer: String, Hashable, Sendable, CaseIterable {
        case owner, requester
    }

    package var bucket: String
    package var region: String?
    package var endpoint: URL?
    package var addressing = BucketAddressing.auto
    /// Without `/` at its ends; empty for none.
    package var prefix = ""
    /// Of the shared AWS files.
    package var profile: String?
    package var encryption = Encryption.none
    /// Only with ``Encryption/keyService``.
    package var encryptionKey: String?
    package var checksums = Switch.auto
    package var conditionalWrites = Switch.auto
    /// Of new photos.
    package var storageClass = StorageClass.standard
    package var tags: [String: String] = [:]
    package var requestPayer = RequestPayer.owner
    /// Bytes of a part of a large file.
    package var partSize = 16 << 20
    /// Of one request, the first included.
    package var attempts = 3
    /// `nil`: the AWS environment decides.
    package var dualStack: Bool?
    package var fips: Bool?

    /// Whether ``bucket`` is the ARN of one, whole or not.
    var isAccessPoint: Bool { bucket.hasPrefix("arn:") }
}

extension S3StoreSettings {
    /// What a command is told of a bucket; all else is as by default.
    package init(bucket: String, region: String?, endpoint: URL?, prefix: String, profile: String?) {
        self.init(
            bucket: bucket, region: region, endpoint: endpoint, addressing: .auto, prefix: prefix, profile: profile)
    }
}

extension StoreSettings {
    init(from reader: inout SettingsReader) {
        let knownProblems = reader.problems.count
        let type = reader.value(ConfigKeys.storeType)
        // When the type itself is wrong, which keys go with it is anybody's guess.
        if reader.problems.count == knownProblems {
            for key in ConfigKeys.all where key.traits.store != nil && key.traits.store != type {
                guard let other = key.traits.store, reader.isSet(key.path) else { continue }
                let origin = reader.isSet(ConfigKeys.storeType.path) ? "" : " (the default)"
                reader.add(
                    "belongs to a store of type \(other.rawValue); this one is of type \(type.rawValue)\(origin)",
                    at: key.path)
            }
        }
        let restoreDuration = reader.value(ConfigKeys.restoreSeconds)
        let s3 = S3StoreSettings(
            bucket: reader.value(ConfigKeys.bucket) ?? "", region: reader.value(ConfigKeys.region),
            endpoint: reader.value(ConfigKeys.endpoint), addressing: reader.value(ConfigKeys.addressing),
            prefix: reader.value(ConfigKeys.prefix), profile: reader.value(ConfigKeys.awsProfile),
            encryption: reader.value(ConfigKeys.encryption), encryptionKey: reader.value(ConfigKeys.encryptionKey),
            checksums: reader.value(ConfigKeys.checksums),
            conditionalWrites: reader.value(ConfigKeys.conditionalWrites),
            storageClass: reader.value(ConfigKeys.storageClass), tags: reader.value(ConfigKeys.tags),
            requestPayer: reader.value(ConfigKeys.requestPayer), partSize: reader.value(ConfigKeys.partSize),
            attempts: reader.value(ConfigKeys.attempts), dualStack: reader.value(ConfigKeys.dualStack),
            fips: reader.value(ConfigKeys.fips))
        switch type {
        case .directory:
            let path = reader.path(ConfigKeys.storePath) ?? ""
            self = .directory(DirectoryStoreSettings(path: path, restoreDuration: restoreDuration))
        case .s3:
            if !reader.isSet(ConfigKeys.bucket.path) {
                reader.add(
                    "is missing; a store of type s3 needs the bucket's name", at: ConfigKeys.bucket.path,
                    line: reader.line(of: ConfigKeys.storeType.path))
            }
            for key in [ConfigKeys.dualStack, ConfigKeys.fips] where s3.endpoint != nil && reader.value(key) == true {
                reader.add(
                    "chooses an endpoint of Amazon's, and store.endpoint names another one; take one of them out",
                    at: key.path)
            }
            if s3.encryptionKey != nil, s3.encryption != .keyService {
                reader.add(
                    "goes with encryption: \(S3StoreSettings.Encryption.keyService.rawValue); this one is "
                        + s3.encryption.rawValue, at: ConfigKeys.encryptionKey.path)
            }
            self = .s3(s3)
        }
    }
}
