/// `share --json`
struct ShareAnswer: Decodable, Sendable {
    struct Skipped: Decodable, Sendable {
        var path: String
        var reason: String
    }

    var shareId: String?
    var link: String?
    var linkEndsAt: String?
    var expiresAt: String
    var photoCount: Int
    var bytes: Int
    var page: String?
    var state: String
    var skipped: [Skipped]
    var notes: [String]
}

/// `shares --json`
struct ShareListing: Decodable, Sendable {
    var shares: [ShareEntry]
    var problems: [String]
}

struct ShareEntry: Decodable, Sendable {
    var shareId: String
    var location: String
    var startDate: String
    /// `null` of those of other machines that are over.
    var photoCount: Int?
    var sharedBy: String?
    var state: String
    var link: String?
    var endedAt: String?
    var problem: String?
    var machine: Machine
    var revokedBy: String?

    struct Machine: Decodable, Sendable {
        var id: String
        var name: String?
        var isThis: Bool
    }
}

/// `mirror --json`
struct MirrorAnswer: Decodable, Sendable {
    struct Kept: Decodable, Hashable, Sendable {
        var name: String
        var reason: String
    }

    struct Failure: Decodable, Sendable {
        var name: String?
        var error: String
    }

    var shareId: String
    var destination: String
    var downloaded: Int
    var alreadyThere: Int
    var kept: Int
    var failed: Int
    var errors: [Failure]
    var keptFiles: [Kept]
    var ended: String?
    var photoCount: Int?
    var notes: [String]

    /// `downloaded`, `alreadyThere`, `kept`, `failed`: what most tests ask for.
    var counts: [Int] { [downloaded, alreadyThere, kept, failed] }
}

/// What is said of a share in its `vacation.json`.
struct SharedManifest: Decodable, Sendable {
    struct Photo: Decodable, Sendable {
        var orderIndex: Int
        var size: Int
        var sha256: String
        var takenAt: String?
        var name: String?
    }

    var locationName: String
    var sharedBy: String?
    var photos: [Photo]
}
