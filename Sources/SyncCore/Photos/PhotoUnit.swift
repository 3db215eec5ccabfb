package import SystemPackage

/// Files of one folder that belong to one photo, told by their names: `IMG_1.HEIC` with its movie `IMG_1.MOV` (a live
/// photo) and its edits `IMG_1.AAE`; `DSC_2.JPG` with `DSC_2.NEF`, and a sidecar of each.
///
/// The stem has to be the same byte for byte, and upper or lower case of the ending does not matter. Where several pictures
/// have one stem, the one that cameras make is the photo, of those that are there, and the others stand for themselves:
/// a sidecar that has the whole name of one of these is of that one.
package struct PhotoUnit<Member> {
    package var photo: Member
    /// In the order in which they were given.
    package var companions: [(member: Member, role: UnitRole)]

    /// - Parameters:
    ///   - members: files of one folder.
    ///   - isThere: whether it is on the disk, and nothing is wrong with it.
    ///   - name: the name of each.
    /// - Returns: the units of more than one file, in the order of the first files with their stems.
    package static func units(
        of members: some Sequence<Member>, isThere: (Member) -> Bool = { _ in true },
        name: (Member) -> FilePath.Component
    ) -> [PhotoUnit] {
        var order: [[UInt8]] = []
        var groups: [[UInt8]: Group] = [:]
        for member in members {
            let whole = name(member)
            guard let parts = UnitName(whole) else { continue }
            if groups[parts.stem] == nil { order.append(parts.stem) }
            groups[parts.stem, default: []].append((member, whole, parts))
        }
        return order.flatMap { divide(groups[$0] ?? [], isThere) }
    }

    /// Files with one stem.
    private typealias Group = [(member: Member, whole: FilePath.Component, name: UnitName)]

    private static func divide(_ group: Group, _ isThere: (Member) -> Bool) -> [PhotoUnit] {
        func rank(_ index: Int) -> Int { group[index].name.rank(isThere: isThere(group[index].member)) }
        guard group.count > 1, let head = group.indices.min(by: { rank($0) < rank($1) }),
            group[head].name.kind != .sidecar
        else { return [] }
        let lead = group[head].name
        func standsForItself(_ index: Int) -> Bool { index != head && group[index].name.role(beside: lead) == nil }
        var companions: [Int: [(member: Member, role: UnitRole)]] = [:]
        for (index, file) in group.enumerated() where index != head {
            guard let role = file.name.role(beside: lead) else { continue }
            let named = file.name.named.flatMap { named in
                group.indices.first { standsForItself($0) && Array(group[$0].whole.bytes) == named }
            }
            companions[named ?? head, default: []].append((file.member, role))
        }
        let photos = [head] + group.indices.filter(standsForItself)
        return photos.compactMap { index in
            companions[index].map { PhotoUnit(photo: group[index].member, companions: $0) }
        }
    }
}

extension PhotoUnit where Member == FilePath {
    /// Files that others do not get, since they get the photo that each of them belongs to.
    /// - Parameters:
    ///   - paths: files of any folders.
    ///   - isShared: whether others can get this one.
    package static func companions(
        among paths: some Sequence<FilePath>, ofThose isShared: (FilePath) -> Bool
    ) -> Set<FilePath> {
        let folders = Dictionary(grouping: paths) { $0.removingLastComponent() }.values
        let found = folders.flatMap { PhotoUnit.units(of: $0) { $0.lastComponent ?? "." } }
        return Set(found.filter { isShared($0.photo) }.flatMap { $0.companions.map(\.member) })
    }
}

/// What a file is to the photo that it belongs to.
package enum UnitRole: String, Hashable, Sendable, CaseIterable {
    /// What the sensor saw; the photo is the picture that the camera made of it.
    case raw
    /// Of a live photo.
    case movie
    /// Ratings, keywords, edits: XMP, or Apple's AAE.
    case sidecar
}

/// The name of a file that may belong to a unit.
package struct UnitName: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// By its ending, in lower case.
        case picture(String)
        case raw
        /// Likewise.
        case movie(String)
        case sidecar
    }

    /// What all names of a unit begin with, in front of a dot.
    package let stem: [UInt8]
    package let kind: Kind
    /// Of a sidecar: the whole name of the file that it is of, where its own name has that.
    fileprivate let named: [UInt8]?

    /// `nil` for names of other files.
    package init?(_ name: FilePath.Component) {
        guard let (whole, kind) = Self.parts(Array(name.bytes)) else { return nil }
        var stem = whole
        var named: [UInt8]?
        if kind == .sidecar {
            // `a.jpg.xmp` is of `a.jpg`, `IMG_O0001.AAE` of `IMG_0001.HEIC`, as it was before it was edited.
            if let (inner, other) = Self.parts(stem), other != .sidecar {
                named = stem
                stem = inner
            }
            let prefix = Array("IMG_O".utf8)
            if stem.starts(with: prefix), stem.count > prefix.count,
                stem.dropFirst(prefix.count).allSatisfy(\.isDigit)
            {
                stem.remove(at: prefix.count - 1)
            }
        }
        self.stem = stem
        self.kind = kind
        self.named = named
    }

    /// Whether a file is a sidecar by its name.
    package static func isSidecar(_ name: FilePath.Component?) -> Bool {
        name.flatMap { UnitName($0) }?.kind == .sidecar
    }

    /// What names of files that belong to the same unit may begin with.
    package var prefixes: [[UInt8]] {
        let before = Array("IMG_".utf8)
        guard stem.starts(with: before) else { return [stem] }
        return [stem, before + Array("O".utf8) + stem.dropFirst(before.count)]
    }

    private static func parts(_ name: [UInt8]) -> (stem: [UInt8], kind: Kind)? {
        // As FilePath has it: a dot at the beginning begins no ending.
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
        let ending = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        return kind(of: ending).map { (Array(name[..<dot]), $0) }
    }

    /// - Parameter ending: of a name, in lower case and without the dot.
    /// - Returns: `nil` for other files.
    package static func kind(of ending: String) -> Kind? {
        switch ending {
        case "xmp", "aae": .sidecar
        case _ where movies.contains(ending): .movie(ending)
        case _ where raws.contains(ending): .raw
        case _ where pictures.contains(ending): .picture(ending)
        default: nil
        }
    }

    /// What phones and cameras make beside a movie or a RAW file.
    private static let live = ["heic", "heif", "hif", "jpg", "jpeg", "jpe", "jfif"]
    private static let pictures = live + ["avif", "png", "tif", "tiff", "webp", "jxl", "jp2", "j2k", "gif", "bmp"]
    private static let raws: Set<String> = [
        "3fr", "arw", "cr2", "cr3", "crw", "dcr", "dng", "fff", "iiq", "kdc", "mrw", "nef", "nrw", "orf", "pef", "raf",
        "rw2", "rwl", "sr2", "srf", "srw", "x3f",
    ]
    private static let movies: Set<String> = [
        "mov", "mp4", "m4v", "avi", "mkv", "webm", "mts", "m2ts", "mpg", "mpeg", "3gp", "3g2", "wmv",
    ]

    /// The least one is the photo.
    fileprivate func rank(isThere: Bool) -> Int {
        switch kind {
        case .picture(let ending):
            (Self.pictures.firstIndex(of: ending) ?? Self.pictures.count) + (isThere ? 0 : Self.pictures.count)
        case .raw: 100
        case .movie: 101
        case .sidecar: 102
        }
    }

    /// `nil` for what stands for itself.
    fileprivate func role(beside photo: UnitName) -> UnitRole? {
        switch (kind, photo.kind) {
        case (.sidecar, _): .sidecar
        case (.raw, .picture): .raw
        case (.movie(let film), .picture(let ending))
        where ["mov", "mp4"].contains(film) && Self.live.contains(ending):
            .movie
        default: nil
        }
    }
}
