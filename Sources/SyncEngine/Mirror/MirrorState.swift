import FoundationEssentials
import SyncCore
import SyncSystem
import SystemPackage

/// What a mirror remembers of what it put into its folder, as the hidden file `.sync-agent-mirror.json` there. By it a
/// file that the person changed or deleted is told from one that was never fetched.
struct MirrorState: Hashable, Sendable, Codable {
    static let currentVersion = 1
    /// Of a file that was not looked at.
    static let noTime: Int64 = -1
    /// Of one place: a share that changes at each look does not make the state grow without end.
    private static let earlierKept = 8

    /// A file as it was when it was put there.
    struct File: Hashable, Sendable, Codable {
        var name: String
        /// Of the bytes, hexadecimal.
        var sha256: String
        /// Bytes.
        var size: Int64
        /// Nanoseconds since 1970.
        var modified: Int64

        /// Unless it is a plain name: a folder may come from anywhere, with its state.
        var component: FilePath.Component? {
            guard !name.contains("/"), let name = FilePath.Component(name), name.kind == .regular else { return nil }
            return name
        }
    }

    var version = currentVersion
    var shareId: String
    /// Where the manifest was found last, or a newer link that it told.
    var manifestLink: String?
    /// Whether all photos that the share had last were put there.
    var isComplete = false
    /// By order index: what the share had last, under the name that it has here, or would have got. `nil` where an older
    /// version wrote the state.
    var expected: [Int: File]?
    /// Our `vacation.json`.
    var manifest: File?
    /// By order index: what was put there last.
    private(set) var photos: [Int: File] = [:]
    /// By order index: what was put there before, while another photo had the place.
    private(set) var earlier: [Int: [File]] = [:]

    /// Whether something in it could not be read. It is not written.
    var isDamaged = false

    init(shareID: ShareID) {
        shareId = shareID.description
    }

    mutating func note(_ file: File, at index: Int) {
        if let last = photos[index], last.sha256 != file.sha256 {
            earlier[index] = Array(((earlier[index] ?? []) + [last]).suffix(Self.earlierKept))
        }
        photos[index] = file
    }

    /// A photo that had its place before, and has it again, is the one that was put there then.
    mutating func reinstate(_ photo: CheckedShare.Photo) {
        let (index, sha256) = (photo.orderIndex, photo.sha256.description)
        guard photos[index]?.sha256 != sha256, let place = earlier[index]?.firstIndex(where: { $0.sha256 == sha256 }),
            let file = earlier[index]?.remove(at: place)
        else { return }
        note(file, at: index)
    }

    /// What was put there, by order index.
    var names: [Int: [String]] {
        photos.mapValues { [$0.name] }.merging(earlier.mapValues { $0.map(\.name) }) { $0 + $1 }
    }

    /// Whether anything was ever put there.
    var hasPhotos: Bool { !photos.isEmpty || !earlier.isEmpty }

    var remembered: WebLink? { manifestLink.flatMap { WebLink($0) } }

    /// Whether nothing that this share has now was never here.
    func covers(_ share: CheckedShare) -> Bool {
        share.photos.allSatisfy { photos[$0.orderIndex]?.sha256 == $0.sha256.description }
    }

    func encoded() throws -> [UInt8] { try ReadableJSON.json(self) }

    // MARK: Reading

    fileprivate enum CodingKeys: String, CodingKey {
        case version, shareId, manifestLink, isComplete, expected, manifest, photos, earlier
    }

    /// Entry by entry: one that is wrong takes none of the others along.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        version = try fields.decode(Int.self, forKey: .version)
        shareId = try fields.decode(String.self, forKey: .shareId)
        var reading = MirrorStateReading(fields: fields)
        manifestLink = reading.value(.manifestLink, as: String.self)
        isComplete = reading.value(.isComplete, as: Bool.self) ?? false
        manifest = reading.value(.manifest, as: File.self)
        let photos = reading.table(.photos, of: File.self)
        let earlier = reading.table(.earlier, of: [MirrorStateEntry<File>].self)
        let expected = reading.table(.expected, of: File.self)
        for (index, file) in photos ?? [] {
            if let file { self.photos[index] = file }
        }
        for (index, files) in earlier ?? [] {
            guard let files else { continue }
            self.earlier[index] = files.compactMap(\.value)
            reading.isDamaged = reading.isDamaged || files.contains { $0.value == nil }
        }
        if let expected {
            // What was put there is the next best to know.
            var files: [Int: File] = [:]
            for (index, file) in expected { files[index] = file ?? self.photos[index] }
            self.expected = files
        }
        isDamaged = reading.isDamaged || photos == nil
    }
}

/// A value that is left out where it is not what it should be.
private struct MirrorStateEntry<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)
    }
}

/// The fields of a ``MirrorState``, and whether all of them could be read.
private struct MirrorStateReading {
    let fields: KeyedDecodingContainer<MirrorState.CodingKeys>
    var isDamaged = false

    /// `nil` where it is not there, or not what it should be.
    mutating func value<Value: Decodable>(_ key: MirrorState.CodingKeys, as type: Value.Type) -> Value? {
        do {
            return try fields.decodeIfPresent(type, forKey: key)
        } catch {
            isDamaged = true
            return nil
        }
    }

    /// By order index; a value is `nil` where it is not what it should be.
    mutating func table<Value: Decodable>(
        _ key: MirrorState.CodingKeys, of type: Value.Type
    ) -> [(index: Int, value: Value?)]? {
        guard let entries = value(key, as: [String: MirrorStateEntry<Value>].self) else { return nil }
        var table: [(index: Int, value: Value?)] = []
        for (name, entry) in entries {
            guard let index = Int(name) else {
                isDamaged = true
                continue
            }
            if entry.value == nil { isDamaged = true }
            table.append((index, entry.value))
        }
        return table
    }
}

/// What is known of a mirror before its share is read.
struct KnownMirror: Sendable {
    /// What was put into the folder; `nil` where nothing is known of that.
    let known: MirrorState?
    /// The same, as the hidden file there has it.
    let written: MirrorState?
    /// Whether the hidden file, or a part of it, could not be read.
    let isDamaged: Bool
    /// Whether the folder is another one than an earlier round of this process has filled.
    let isLost: Bool
    /// What the share had last, by the manifest in the folder. Looked for only where the hidden file does not tell it.
    let share: CheckedShare?
    /// Whether that is the share which is meant, as far as anybody can tell without reading it.
    let isAsked: Bool

    /// Blocks.
    /// - Parameters:
    ///   - folder: `nil` where there is none yet.
    ///   - filled: by an earlier round of this process.
    ///   - asked: the share, where the person's reference tells it.
    /// - Throws: ``MirrorError``, ``DownloadError``.
    init(of folder: MirrorFolder?, filled: FilledFolder?, asked: ShareID?) throws {
        let (written, isDamaged) = try folder?.state() ?? (nil, false)
        self.written = written
        self.isDamaged = isDamaged
        if let filled {
            let isSame = folder.map { filled.isSame(as: $0) } ?? false
            known = filled.load(written, isDamaged: isDamaged, isSame: isSame)
            isLost = known == nil && !isDamaged
        } else {
            known = written
            isLost = false
        }
        let isWhole = !isDamaged && known?.expected != nil
        let id = known.flatMap { ShareID($0.shareId) } ?? asked
        share = isWhole ? nil : folder?.share(id)
        isAsked = id != nil
    }

    /// Whether photos of the share were put here, or may have been.
    var hadPhotos: Bool { isDamaged || (known?.hasPhotos ?? (share != nil)) }

    /// Whether the folder is the mirror of a share, and has forgotten what was put there.
    func hasForgotten(_ id: ShareID) -> Bool { isDamaged || known == nil && share?.id == id }
}

/// A folder that was mirrored into, by which it is told from another one that has its path later.
struct FilledFolder: Sendable {
    let identity: FolderIdentity?
    /// What is known of it.
    let state: MirrorState
    /// The same, as its hidden file had it: that may be one that cannot be written.
    let written: MirrorState?

    /// Whether it is this one: under whatever name, or, of a drive that was mounted anew, by the manifest that was put there.
    func isSame(as folder: MirrorFolder) -> Bool {
        folder.identity == identity || (state.manifest.map { folder.hasManifest($0.sha256) } ?? false)
    }

    /// What is known of the folder that has the path now.
    /// - Parameters:
    ///   - now: as its hidden file has it.
    ///   - isSame: whether it is this one.
    /// - Returns: `nil` when nothing is known of it.
    func load(_ now: MirrorState?, isDamaged: Bool, isSame: Bool) -> MirrorState? {
        // Whatever wrote there since knows more.
        if let now { return now == written ? state : now }
        // A hidden file that was written, and is not there, was taken away with the rest.
        return isSame && (isDamaged || written == nil) ? state : nil
    }
}

/// What is to become of one photo of a share.
enum MirrorStep: Hashable, Sendable {
    case download(FilePath.Component, overwrites: Bool)
    case alreadyThere(FilePath.Component)
    case kept(FilePath.Component, MirrorResult.Kept.Reason)
    /// Nobody can tell what has become of it.
    case unreadable(FilePath.Component, Errno)
}

/// How a file is now, against what was put there.
enum MirrorStatus: Hashable, Sendable {
    case missing, same, changed
    /// By an empty file, or by what is no file.
    case taken
    /// It cannot be looked at: by its rights, its name or its disk.
    case unreadable(Errno)
}

/// Decides about photos, one by one. What the person did to a file counts more than what the share has.
struct MirrorPlan: Sendable {
    let names: MirrorName
    /// Those that the share tells; `nil` where they are not wanted.
    var originals: OriginalNames?
    /// Whether the person wants the share's photos back, whatever they did to them.
    let isForced: Bool

    /// - Parameters:
    ///   - noted: what was put there for this place in the share.
    ///   - status: of that file.
    func step(
        for photo: CheckedShare.Photo, noted: (name: FilePath.Component, sha256: String)?, status: MirrorStatus
    ) -> MirrorStep {
        // The state lies in a folder that may come from anywhere: it cannot make us write to files of other names.
        guard let noted, MirrorName.admits(noted.name, of: photo) else {
            // Under a name that the share does not tell any more, a photo is still that photo.
            guard let noted, !isForced, noted.sha256 == photo.sha256.description,
                OriginalName(noted.name.string, film: photo.film)?.text == noted.name.string
            else { return download(photo) }
            return untouched(noted.name, status)
        }
        guard noted.sha256 == photo.sha256.description else {
            // Another photo has this place now: it comes beside the first.
            return download(photo, isOther: true)
        }
        if isForced, status != .same { return .download(noted.name, overwrites: true) }
        return untouched(noted.name, status)
    }

    private func untouched(_ name: FilePath.Component, _ status: MirrorStatus) -> MirrorStep {
        switch status {
        case .same: .alreadyThere(name)
        case .missing: .kept(name, .deleted)
        case .changed: .kept(name, .changed)
        case .taken: .kept(name, .nameTaken)
        case .unreadable(let errno): .unreadable(name, errno)
        }
    }

    /// The mirror's own name for a photo that is to have the one that the share tells; `nil` for all others.
    func ownName(
        of photo: CheckedShare.Photo, insteadOf name: FilePath.Component, isOther: Bool
    ) -> FilePath.Component? {
        let own = names.name(of: photo, isOther: isOther)
        return originals == nil || own == name ? nil : own
    }

    /// What a folder is to have of a share.
    func expected(of share: CheckedShare, _ state: MirrorState) -> [Int: MirrorState.File] {
        var files: [Int: MirrorState.File] = [:]
        for photo in share.photos {
            let noted = state.photos[photo.orderIndex]
            let sha256 = photo.sha256.description
            let name = noted?.sha256 == sha256 ? noted?.name : nil
            files[photo.orderIndex] = MirrorState.File(
                name: name ?? choice(for: photo, isOther: noted != nil).name.string, sha256: sha256, size: photo.size,
                modified: MirrorState.noTime)
        }
        return files
    }

    /// A name that somebody else has chosen may be that of a file of this person: that one is never replaced.
    private func download(_ photo: CheckedShare.Photo, isOther: Bool = false) -> MirrorStep {
        let (name, isTold) = choice(for: photo, isOther: isOther)
        return .download(name, overwrites: isForced && !isTold)
    }

    /// The name that a photo gets, and whether the share tells it.
    private func choice(for photo: CheckedShare.Photo, isOther: Bool) -> (name: FilePath.Component, isTold: Bool) {
        if let told = originals?.name(of: photo, isOther: isOther) { return (told, true) }
        return (names.name(of: photo, isOther: isOther), false)
    }
}
