package import FoundationEssentials
package import SyncCore
package import SystemPackage

/// The pace of the work.
package struct UploadSettings: Hashable, Sendable {
    /// Objects in flight.
    package var batchSize: Int
    /// So many may come to be in flight where that is faster.
    package var mostInFlight: Int
    /// How long a file has to be quiet.
    package var settle: Duration
    /// Time between two scans of everything.
    package var rescan: Duration
    /// `nil` for no limit.
    package var bandwidthLimit: BandwidthTimetable?

    init(from reader: inout SettingsReader) {
        batchSize = reader.value(ConfigKeys.batchSize)
        settle = reader.value(ConfigKeys.settle)
        rescan = reader.value(ConfigKeys.rescan)
        bandwidthLimit = reader.value(ConfigKeys.bandwidthLimit)
        // Who names a number has that number. A line of which a part may be taken is full of that part.
        let isFixed = reader.isSet(ConfigKeys.batchSize.path) || bandwidthLimit != nil
        mostInFlight = isFixed ? batchSize : max(batchSize, Self.mostInFlight)
    }

    /// With a round trip of 50 ms, 600 small objects a second.
    private static let mostInFlight = 32
}

/// What is stored of a photo.
package struct PhotoSettings: Hashable, Sendable {
    package var reduce: ReducePolicy
    package var originals: OriginalsPolicy

    init(from reader: inout SettingsReader) {
        reduce = ReducePolicy(
            maximumDimension: reader.value(ConfigKeys.maximumDimension), quality: reader.value(ConfigKeys.quality),
            stripLocation: reader.value(ConfigKeys.stripLocation))
        originals = reader.value(ConfigKeys.originals)
        if originals != .off, reduce.stripLocation {
            reader.add(
                "keeps the bytes of photos, which tell where they were taken; strip_location keeps that here. Choose one",
                at: ConfigKeys.originals.path)
        }
    }
}

/// When photos move to the archive.
package struct TierSettings: Hashable, Sendable {
    package var mode: TierMode
    /// 0: at the next pass.
    package var archiveAfterDays: Int
    /// Of originals.
    package var originalsAfterDays: Int
    package var minimumArchiveBytes: Int

    init(from reader: inout SettingsReader) {
        mode = reader.value(ConfigKeys.tierMode)
        archiveAfterDays = reader.value(ConfigKeys.archiveAfterDays)
        originalsAfterDays = reader.value(ConfigKeys.originalsAfterDays)
        minimumArchiveBytes = reader.value(ConfigKeys.minimumArchiveBytes)
    }
}

/// How archived photos come back.
package struct RestoreSettings: Hashable, Sendable {
    /// How long the copy stays.
    package var days: Int
    package var tier: RestoreTier
    package var poll: Duration
    /// US dollars; `nil` for no limit.
    package var maximumCostUSD: Double?

    init(from reader: inout SettingsReader) {
        days = reader.value(ConfigKeys.restoreDays)
        tier = reader.value(ConfigKeys.restoreTier)
        poll = reader.value(ConfigKeys.restorePoll)
        maximumCostUSD = reader.value(ConfigKeys.maximumCost)
    }
}

/// When gallery events are archived, and their text deleted.
package struct RetentionSettings: Hashable, Sendable {
    package var eventDays: Int
    /// Events in one pass.
    package var batchSize: Int
    /// Of the daily pass, in ``timeZone``.
    package var at: TimeOfDay
    package var timeZone: TimeZone
    /// Whether the title of an event stays with its archived photo.
    package var keepTitles: Bool

    init(from reader: inout SettingsReader) {
        eventDays = reader.value(ConfigKeys.eventDays)
        batchSize = reader.value(ConfigKeys.retentionBatch)
        at = reader.value(ConfigKeys.retentionTime)
        timeZone = reader.value(ConfigKeys.retentionZone)
        keepTitles = reader.value(ConfigKeys.keepTitles)
    }
}

/// A time on the 24-hour clock, to the minute.
package struct TimeOfDay: Hashable, Sendable, CustomStringConvertible {
    package let hour: Int
    package let minute: Int
}

extension TimeOfDay {
    /// Reads `HH:MM`; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        self.init(hour: hour, minute: minute)
    }

    package var description: String {
        [hour, minute].map { $0.padded(to: 2) }.joined(separator: ":")
    }
}

/// Whether the store keeps a catalogue.
package enum CatalogSwitch: String, Hashable, Sendable, CaseIterable {
    case on, off
}

/// The bounds of a share.
package struct ShareSettings: Hashable, Sendable {
    package var maximumPhotos: Int
    package var expireDays: Int
    /// Where everybody can read the shares; `nil` when links have to be signed.
    package var publicBaseURL: URL?
    /// Of the page, until its script takes the reader's.
    package var language: PageLanguage
    /// Two letters (ISO 3166-1): whose telephone numbers need no country code.
    package var phoneRegion: String?

    init(from reader: inout SettingsReader) {
        maximumPhotos = reader.value(ConfigKeys.sharePhotos)
        expireDays = reader.value(ConfigKeys.shareDays)
        publicBaseURL = reader.value(ConfigKeys.shareBaseURL)
        language = reader.value(ConfigKeys.shareLanguage)
        phoneRegion = reader.value(ConfigKeys.shareRegion)
    }
}

/// Who is told of restores, shares, and what is wrong.
package struct NotifySettings: Hashable, Sendable {
    /// Program and arguments; empty for none.
    package var command: [String]
    package var webhook: SecretURL?
    /// What is told.
    package var kinds: Set<Notice.Kind>
    /// Called after each whole good pass.
    package var heartbeat: SecretURL?

    init(from reader: inout SettingsReader) {
        command = reader.value(ConfigKeys.notifyCommand)
        webhook = reader.value(ConfigKeys.notifyWebhook).map(SecretURL.init)
        kinds = reader.value(ConfigKeys.notifyKinds)
        heartbeat = reader.value(ConfigKeys.heartbeat).map(SecretURL.init)
    }
}

/// An address that is a secret: whoever knows it can use it. Printing it, or what holds it, does not tell it.
package struct SecretURL: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address itself, for the request.
    package let revealed: URL

    package init(_ url: URL) {
        self.revealed = url
    }

    package var description: String { "(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The gallery on a screen.
package struct ServeSettings: Hashable, Sendable {
    /// Whether the agent shows it too.
    package var isEnabled: Bool
    package var listen: ListenAddress
    /// Absolute.
    package var passwordFile: FilePath?
    /// As others reach it.
    package var baseURL: URL?

    init(from reader: inout SettingsReader) {
        isEnabled = reader.value(ConfigKeys.serveEnabled)
        listen = reader.value(ConfigKeys.serveListen)
        passwordFile = reader.optionalPath(ConfigKeys.servePassword)
        baseURL = reader.value(ConfigKeys.serveBaseURL)
    }
}

/// How much of what is stored is read back by the agent itself.
package struct VerifySettings: Hashable, Sendable {
    /// Of all objects; 0 for none.
    package var percentPerDay: Double
    /// US dollars, where reading is billed.
    package var maximumUSDPerMonth: Double

    init(from reader: inout SettingsReader) {
        percentPerDay = reader.value(ConfigKeys.verifyPercent)
        maximumUSDPerMonth = reader.value(ConfigKeys.verifyBudget)
    }
}

/// What monitoring reads.
package struct MetricsSettings: Hashable, Sendable {
    /// Absolute; `nil` for none.
    package var textfile: FilePath?

    /// - Parameter watched: where it may not be: each write would be a change of the folder.
    init(from reader: inout SettingsReader, watched: [WatchedFolder]) {
        let key = ConfigKeys.metricsFile
        textfile = reader.optionalPath(key)
        guard let textfile else { return }
        // The collector reads no other.
        if textfile.extension != "prom" {
            reader.add("\(textfile.text) does not end in .prom, and no collector reads it", at: key.path)
        }
        if let folder = watched.first(where: { textfile.starts(with: $0.path) }) {
            reader.add("lies in the watched folder \(folder.path); name a place that is not watched", at: key.path)
        }
    }
}
