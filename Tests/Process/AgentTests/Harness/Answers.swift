/// `status --json`, as far as tests ask for it. That no field of the contract is missing has a test of its own.
struct StatusOverview: Decodable, Sendable {
    struct Agent: Decodable, Sendable {
        var running: Bool
        var pid: Int32?
        var since: String?
    }

    struct Folder: Decodable, Sendable {
        var path: String
        var kind: String
        var watching: String?
        var files: Int
        var uploaded: Int
        var note: String?
        var problem: String?
    }

    struct Totals: Decodable, Sendable {
        var files: Int
        var uploaded: Int
        var pending: Int
        var failed: Int
        var skipped: Int
        var missing: Int
    }

    struct Tier: Decodable, Sendable {
        var storageClass: String
        var objects: Int
        var bytes: Int
    }

    var agent: Agent
    var folders: [Folder]
    var totals: Totals
    var tiers: [Tier]
    var lastSyncAt: String?
}

/// `status PATH --json`
struct PhotoListing: Decodable, Sendable {
    var files: [PhotoEntry]
}

struct PhotoEntry: Decodable, Sendable {
    var path: String
    var state: String
    var key: String?
    var md5: String?
    var sha256: String?
    var bytesLocal: Int?
    var bytesStored: Int?
    var width: Int?
    var height: Int?
    var durationSeconds: Double?
    var storageClass: String?
    var badge: String?
    var restoredUntil: String?
    var error: String?
    var note: String?
    var uploadedAt: String?
    var takenAt: String?
    var dropped: [String]
}

/// `sync --json`
struct PassAnswer: Decodable, Sendable {
    struct Problem: Decodable, Sendable {
        var path: String
        var message: String
    }

    var uploaded: Int
    var alreadyStored: Int
    var failed: Int
    var pending: Int
    var bytesSent: Int
    var problems: [Problem]
    var failures: [Problem]
}
