import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// `status PATH… --json`: one entry for each photo. The fields are a contract (docs/commands.md).
struct PhotoReport: Encodable {
    var path: String
    var state: String
    @Nullable var key: String?
    @Nullable var md5: String?
    @Nullable var sha256: String?
    @Nullable var storageClass: String?
    /// The class that it should be in by now.
    @Nullable var expectedClass: String?
    /// Why it is not to be archived: `tooSmall`, `tooYoung`, `notCovered`, `archivingIsOff`, `neverPays`.
    @Nullable var staysBecause: String?
    @Nullable var badge: Badge?
    @Nullable var restoredUntil: Date?
    @Nullable var uploadedAt: Date?
    @Nullable var bytesLocal: Int64?
    @Nullable var bytesStored: Int64?
    @Nullable var width: Int?
    @Nullable var height: Int?
    /// Of a film.
    @Nullable var durationSeconds: Double?
    @Nullable var takenAt: CaptureTime?
    @Nullable var error: String?
    /// What a file of gallery events holds; of other files, what is to be known of the stored copy.
    @Nullable var note: String?
    /// That its drive is away, and what is at its place; `null` where nothing tells so.
    @Nullable var elsewhere: String?
    /// What the photo has and its stored copy has not: `xmp`, `gainMap`, `secondPicture`, `motion`, …
    var dropped: [String]
    /// The photo's own bytes, where they are kept.
    @Nullable var original: Original?
    /// What is stored of earlier contents of the file, the latest first.
    var versions: [Version]
    /// The photo that this file belongs to: its movie, its RAW file, a sidecar. `null` where it stands for itself.
    @Nullable var partOf: Part?
    /// What belongs to this photo.
    var parts: [Part]

    /// Another file of the same folder.
    struct Part: Encodable {
        var path: String
        /// `raw`, `movie` or `sidecar`: what one is to the other.
        var role: String
        var state: String

        init(_ photo: PhotoStatus, _ role: UnitRole) {
            (path, self.role, state) = (photo.path.text, role.rawValue, photo.state.rawValue)
        }
    }

    struct Original: Encodable {
        var key: String
        /// `jxl` or `none`; `null` where it is not known, since a rebuild, of a file that is not on the disk.
        @Nullable var encoding: String?
        /// As they are stored.
        var bytes: Int64
    }

    struct Version: Encodable {
        /// What `restore --version` takes.
        var number: Int
        var key: String
        var storedAt: Date
        var replacedAt: Date
        var bytesStored: Int64
        var storageClass: String
    }
}

extension PhotoReport {
    init(
        _ status: PhotoStatusText, original: ObjectRecord? = nil, versions: [PhotoVersion] = [],
        unit: PhotoUnit<PhotoStatus>? = nil
    ) {
        let (photo, expected) = (status.photo, status.expected)
        let parts = unit?.photo.id == photo.id ? unit?.companions.map { Part($0.member, $0.role) } ?? [] : []
        let whole = unit.flatMap { unit in
            unit.companions.first { $0.member.id == photo.id }.map { Part(unit.photo, $0.role) }
        }
        let kept = original.map { object in
            let known = photo.bytesLocal.map { $0 == object.size ? OriginalEncoding.none : .jxl }
            return Original(
                key: object.key.rawValue, encoding: (object.encoding ?? known)?.rawValue, bytes: object.size)
        }
        let versions = versions.map {
            Version(
                number: $0.number, key: $0.object.key.rawValue, storedAt: $0.storedAt, replacedAt: $0.replacedAt,
                bytesStored: $0.object.size, storageClass: $0.object.storageClass.rawValue)
        }
        // What is not to be archived stays in its class, whichever it is.
        let expectedClass = expected.map {
            $0.reason == nil ? $0.storageClass : photo.storageClass ?? $0.storageClass
        }
        self.init(
            path: photo.path.text, state: photo.state.rawValue, key: photo.key?.rawValue,
            md5: photo.md5?.description, sha256: photo.sha256?.description,
            storageClass: photo.storageClass?.rawValue, expectedClass: expectedClass?.rawValue,
            staysBecause: expected?.reason?.code, badge: status.badge, restoredUntil: status.restoredUntil,
            uploadedAt: photo.uploadedAt, bytesLocal: photo.bytesLocal, bytesStored: photo.bytesStored,
            width: photo.width, height: photo.height, durationSeconds: photo.duration.map { $0 / .seconds(1) },
            takenAt: photo.takenAt, error: photo.error, note: photo.state == .uploaded ? photo.why : photo.note,
            elsewhere: status.elsewhere, dropped: photo.dropped.map(\.rawValue), original: kept, versions: versions,
            partOf: whole, parts: parts)
    }
}

extension ExpectedClass {
    var reason: Reason? {
        if case .standard(let reason) = self { reason } else { nil }
    }
}

extension ExpectedClass.Reason {
    var code: String {
        switch self {
        case .tooSmall: "tooSmall"
        case .tooYoung: "tooYoung"
        case .notCovered: "notCovered"
        case .archivingIsOff: "archivingIsOff"
        case .neverPays: "neverPays"
        }
    }
}

/// One photo as `status` tells of it: what the ledger knows, and what is expected.
struct PhotoStatusText {
    let photo: PhotoStatus
    /// `nil` for a photo that is not stored as it is.
    let expected: ExpectedClass?
    let badge: Badge?
    /// `nil` for one that is not restored, or is not any more.
    let restoredUntil: Date?
    /// As ``PhotosElsewhere/words(_:)`` tells.
    let elsewhere: String?
    /// Where its copy is gone or damaged, and its original is whole.
    let brokenCopy: BrokenCopy?

    /// Looks the photo's restore up where there is one, and its original where its copy is broken.
    init(
        _ photo: PhotoStatus, policy: TierPolicy, elsewhere: String? = nil, in ledger: Ledger, now: Date
    ) throws(LedgerError) {
        var restore: RestoreItem?
        if photo.restore == .inProgress, let key = photo.key { restore = try ledger.openRestoreItem(for: key) }
        self.photo = photo
        expected = photo.object.map { object in
            // What is archived stays so, whatever the configuration says by now.
            object.storageClass.isArchive
                ? .archived(object.storageClass)
                : policy.expectedClass(of: object.key, size: object.size, storedAt: object.storedAt, now: now)
        }
        badge = Badge(photo, restore: restore, at: now)
        restoredUntil = if case .restored(let until) = photo.restore.asOf(now) { until } else { nil }
        self.elsewhere = elsewhere
        var broken: BrokenCopy?
        if photo.object?.problem != nil, let key = photo.key { broken = try ledger.brokenCopy(key, at: now) }
        brokenCopy = broken
    }

    /// The state in a word. What no scan has met is not missing while its drive is away.
    var word: String { photo.state == .missing && elsewhere != nil ? "away" : photo.state.rawValue }

    /// `due for the archive`, `stays: too small`; `nil` where there is nothing to say.
    var expectation: String? {
        guard let expected, photo.storageClass?.isArchive == false else { return nil }
        return switch expected {
        case .archived: "due for the archive"
        case .standard(.tooSmall(let limit)): "stays: smaller than \(Quantities.bytes(limit))"
        case .standard(.tooYoung(let date)): "archived from \(Quantities.day(date)) on"
        case .standard(.notCovered), .standard(.archivingIsOff), .standard(.neverPays): nil
        }
    }
}

/// What a photo's listing shows at a glance.
enum Badge: String, Encodable {
    case archived, retrieving, restored, rush, error

    init?(_ photo: PhotoStatus, restore: RestoreItem?, at now: Date) {
        if photo.state == .failed {
            self = .error
            return
        }
        switch photo.restore.asOf(now) {
        case .inProgress: self = restore.map { $0.isRush || $0.tier == .expedited } == true ? .rush : .retrieving
        // What is not archived is just there, whatever was asked for.
        case .restored where photo.storageClass?.isArchive == true: self = .restored
        case .restored: return nil
        case .none:
            guard photo.storageClass?.isArchive == true else { return nil }
            self = .archived
        }
    }

    var symbol: String {
        switch self {
        case .archived: "❄️"
        case .retrieving: "⏳"
        case .restored: "✨"
        case .rush: "⭐"
        case .error: "⚠️"
        }
    }
}

/// Photos for people, one line each, with the reason below where one is not safe.
struct PhotoListView {
    let terminal: Terminal

    private static let table = Table(
        .left(9, gap: 2), .right(9, gap: 1), .left(1, gap: 1), .left(9, gap: 2), .left(11, gap: 2), .rest)
    /// What stands below a photo begins below its sizes.
    private static let details = Table(.left(9, gap: 2), .rest)

    /// `uploaded   4.6 MiB → 512 KiB  2048×1536  archived  DEEP_ARCHIVE  ~/Pictures/a.jpg`
    func lines(_ status: PhotoStatusText) -> [String] {
        let photo = status.photo
        let cells = [
            status.word, photo.bytesLocal.map(Quantities.bytes) ?? "–", "→",
            photo.bytesStored.map(Quantities.bytes) ?? "–", pixels(of: photo),
        ]
        var rest: [String] = []
        if let duration = photo.duration { rest.append(duration.clockText) }
        if let badge = status.badge { rest.append(terminal.hasStyle ? badge.symbol : badge.rawValue) }
        if let tier = photo.storageClass, tier != .standard { rest.append(tier.rawValue) }
        if let until = status.restoredUntil { rest.append("until \(Quantities.time(until))") }
        if let expectation = status.expectation { rest.append("(\(expectation))") }
        let style: Terminal.Style? =
            switch photo.state {
            case .uploaded: .green
            case .failed, .lost: .red
            case .pending, .uploading: .yellow
            case .skipped, .missing: .dim
            }
        let path = photo.path.text.escapingControls
        var lines = [
            Self.table.row(cells + [(rest + [path]).joined(separator: "  ")]) { cell in
                style.map { terminal.styled(cell, $0) } ?? cell
            }
        ]
        if terminal.isNarrow(for: 64) {
            lines = terminal.wrapped("\(status.word)  \(path)", style)
            lines += terminal.wrapped((cells.dropFirst() + rest).joined(separator: " "), indent: 2)
        }
        if let why = photo.why, photo.state != .pending || photo.error != nil {
            lines += below(why.escapingControls, .yellow)
        }
        if let elsewhere = status.elsewhere { lines += below(elsewhere, .yellow) }
        if let broken = status.brokenCopy { lines += below("its stored copy \(broken.words)", .yellow) }
        if !photo.dropped.isEmpty {
            let parts = photo.dropped.map(\.words).joined(separator: ", ")
            lines += below("not in the stored copy: \(parts)", .dim)
        }
        return lines
    }

    private func below(_ text: String, _ style: Terminal.Style) -> [String] {
        let lines = TextLayout.wrapped(text, to: max(terminal.width - 11, 20))
        return Self.details.rows("", last: lines.map { terminal.styled($0, style) })
    }

    /// What belongs to it, or what it belongs to.
    func lines(_ unit: PhotoUnit<PhotoStatus>?, of photo: PhotoStatus) -> [String] {
        guard let unit else { return [] }
        func name(_ photo: PhotoStatus) -> String { photo.relativePath.lastComponent?.text.escapingControls ?? "" }
        if let own = unit.companions.first(where: { $0.member.id == photo.id }) {
            return below("\(own.role.words) \(name(unit.photo))", .dim)
        }
        let parts = unit.companions.map { "\(name($0.member)) (\($0.role.rawValue), \($0.member.state.rawValue))" }
        return below("with " + parts.joined(separator: ", "), .dim)
    }

    /// What is kept of its own bytes.
    func lines(original: ObjectRecord?) -> [String] {
        guard let original else { return [] }
        let tier = original.storageClass == .standard ? "" : ", \(original.storageClass.rawValue)"
        let encoding = original.encoding == .jxl ? " as JPEG XL" : ""
        return below(
            "original kept\(encoding): \(Quantities.bytes(original.size))\(tier); restore --original brings it back",
            .dim)
    }

    /// What is stored of earlier contents of its file.
    func lines(_ versions: [PhotoVersion]) -> [String] {
        versions.map { version in
            let storageClass = version.object.storageClass
            let form = version.object.key.copyOfOriginal == nil ? "" : ", its original"
            let tier = form + (storageClass == .standard ? "" : ", \(storageClass.rawValue)")
            return Self.details.row(
                "",
                terminal.styled(
                    "version \(version.number): \(Quantities.bytes(version.object.size))\(tier), stored "
                        + "\(Quantities.time(version.storedAt)), replaced \(Quantities.time(version.replacedAt)); "
                        + "restore --version \(version.number) brings it back", .dim))
        }
    }

    private func pixels(of photo: PhotoStatus) -> String {
        guard let width = photo.width, let height = photo.height else { return "" }
        return "\(width)×\(height)"
    }
}

extension UnitRole {
    /// What stands in front of the photo's name.
    fileprivate var words: String { "\(self == .raw ? "RAW file" : rawValue) of" }
}
