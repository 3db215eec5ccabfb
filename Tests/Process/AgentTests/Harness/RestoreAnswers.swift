/// `restore --json`
struct RestoreAnswer: Decodable, Sendable {
    struct Item: Decodable, Sendable {
        var path: String?
        var paths: [String]
        var key: String
        var state: String
        var error: String?
    }

    struct Skipped: Decodable, Sendable {
        var path: String?
        var key: String?
        var state: String
        var reason: String
    }

    var jobId: String?
    var tier: String
    var estimatedCostUSD: Double
    var estimatedHours: Double?
    var items: [Item]
    var skipped: [Skipped]
    var notSaved: [NotSaved]
}

/// A photo that could not be saved, of `restore --json` and `restores --json`.
struct NotSaved: Decodable, Sendable {
    var path: String
    var reason: String
}

/// `restore --estimate --json`
struct EstimateAnswer: Decodable, Sendable {
    struct Tier: Decodable, Sendable {
        var tier: String
        var hours: Double?
        var costUSD: Double
    }

    var items: Int
    var bytes: Int
    var tiers: [Tier]
}

/// `restores --json`
struct RestoreJobs: Decodable, Sendable {
    var restores: [RestoreJob]
    var notSaved: [NotSaved]
}

struct RestoreJob: Decodable, Sendable {
    struct Item: Decodable, Sendable {
        var path: String?
        var key: String
        var state: String
        var tier: String
        var error: String?
        var note: String?
    }

    var jobId: String
    var state: String
    var tier: String
    var requestedBy: String
    var readyAt: String?
    var expiresAt: String?
    var items: Int
    var done: Int
    var failed: Int
    var saved: Int
    var costUSD: Double?
    var itemList: [Item]?
}
