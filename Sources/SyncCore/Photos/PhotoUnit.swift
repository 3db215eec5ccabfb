package import SystemPackage

/// Files of one folder that belong to one photo, told by their names: `IMG_1.HEIC` with its movie `IMG_1.MOV` (a live
/// photo) and its edits `IMG_1.AAE`; `DSC_2.JPG` with `DSC_2.NEF`, and a sidecar of each.
///
/// The stem has to be the same byte for byte, and upper or lower case of the ending does not matter. Where several pictures
/// have one stem, the one that cameras make is the photo, and the others stand for themselves.
package struct PhotoUnit<Member> {
    package var photo: Member
    /// In the order in which they were given.
    package var companions: [(member: Member, role: UnitRole)]

    /// - Parameters:
    ///   - members: files of one folder.
    ///   - name: the name of each.
    /// - Returns: the units of more than one file, in the order of their first files.
    package static func units(of members: some Sequence<Member>, name: (Member) -> FilePath.Component) -> [PhotoUnit] {
        var order: [[UInt8]] = []
        var groups: [[UInt8]: [(member: Member, name: UnitName)]] = [:]
        for member in members {
            guard let name = UnitName(name(member)) else { continue }
            if groups[name.stem] == nil { order.append(name.stem) }
            groups[name.stem, default: []].append((member, name))
        }
        return order.compactMap { PhotoUnit(group: groups[$0] ?? []) }
    }

    private init?(group: [(member: Member, name: UnitName)]) {
        guard group.count > 1, let head = group.indices.min(by: { Self.rank(group[$0]) < Self.rank(group[$1]) }),
            group[head].name.kind != .sidecar
        else { return nil }
        let lead = group[head].name
        photo = group[head].member
        companions = group.enumerated().compactMap { index, file in
            guard index != head, let role = file.name.role(beside: lead) else { return nil }
            return (file.member, role)
        }
        if companions.isEmpty { return nil }
    }

    private static func rank(_ file: (member: Member, name: UnitName)) -> Int { file.name.rank }
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
        case movie
        case sidecar
    }

    /// What all names of a unit begin with, in front of a dot.
    package let stem: [UInt8]
    package let kind: Kind

    /// `nil` for names of other files.
    package init?(_ name: FilePath.Component) {
        guard let (whole, kind) = Self.parts(Array(name.bytes)) else { return nil }
        var stem = whole
        if kind == .sidecar {
            // `a.jpg.xmp` is of `a.jpg`, `IMG_O0001.AAE` of `IMG_0001.HEIC`, as it was before it was edited.
            if let (inner, other) = Self.parts(stem), other != .sidecar { stem = inner }
            let prefix = Array("IMG_O".utf8)
            if stem.starts(with: prefix), stem.count > prefix.count,
                stem.dropFirst(prefix.count).allSatisfy({ (0x30...0x39).contains($0) })
            {
                stem.remove(at: prefix.count - 1)
            }
        }
        self.stem = stem
        self.kind = kind
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
        let kind: Kind
        switch ending {
        case "xmp", "aae": kind = .sidecar
        case "mov", "mp4": kind = .movie
        case _ where raws.contains(ending): kind = .raw
        case _ where pictures.contains(ending): kind = .picture(ending)
        default: return nil
        }
        return (Array(name[..<dot]), kind)
    }

    private static let live = ["heic", "heif", "jpg", "jpeg"]
    private static let pictures = live + ["avif", "png", "tif", "tiff", "webp"]
    private static let raws: Set<String> = [
        "3fr", "arw", "cr2", "cr3", "crw", "dcr", "dng", "fff", "iiq", "kdc", "mrw", "nef", "nrw", "orf", "pef", "raf",
        "rw2", "rwl", "sr2", "srf", "srw", "x3f",
    ]

    /// The least one is the photo.
    fileprivate var rank: Int {
        switch kind {
        case .picture(let ending): Self.pictures.firstIndex(of: ending) ?? Self.pictures.count
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
        case (.movie, .picture(let ending)) where Self.live.contains(ending): .movie
        default: nil
        }
    }
}
