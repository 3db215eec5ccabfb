import Foundation
import SyncCore

/// All keys there are. This one list decides which names are known, and is the source of `config reference` and of what
/// `init` writes.
enum ConfigKeys {
    static let user = ConfigKey(
        "user", .keySegment, required: "ana",
        "Whose photos these are. It is part of every object's key: change it, and everything is stored anew.")

    static let storeType = ConfigKey(
        "store.type", .choice, default: StoreType.directory,
        "directory: the embedded store, a folder, without server or account. s3: a bucket of Amazon S3 or of a server "
            + "that speaks its language.")
    static let storePath = ConfigKey(
        "store.path", .path, default: "~/.local/share/sync-agent/store", traits: KeyTraits(store: .directory),
        "Where the embedded store keeps its objects.")
    static let restoreSeconds = ConfigKey(
        "store.restore_seconds", .seconds(from: 0, to: 604_800), default: .seconds(5),
        traits: KeyTraits(store: .directory),
        "How long a restore takes in the embedded store.")
    static let bucket = ConfigKey(
        "store.bucket", ValueKind.bucket.orNull(), default: nil,
        traits: KeyTraits(store: .s3, example: "my-photos"),
        "The bucket, or the ARN of an access point of it. A store of type s3 must have it.")
    static let region = ConfigKey(
        "store.region", ValueKind.region.orNull(), default: nil,
        traits: KeyTraits(store: .s3, example: "eu-central-1"),
        "The bucket's region. Without it AWS_REGION, AWS_DEFAULT_REGION and the profile are asked.")
    static let endpoint = ConfigKey(
        "store.endpoint", ValueKind.address().orNull(), default: nil,
        traits: KeyTraits(store: .s3, example: "https://s3.example.net"),
        "The server, where it is not Amazon's. Without it AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL are asked.")
    static let addressing = ConfigKey(
        "store.addressing", .choice, default: BucketAddressing.auto, traits: KeyTraits(store: .s3),
        "Where the bucket's name goes: virtual puts it before the host, path after it. auto takes virtual at Amazon "
            + "and path elsewhere.")
    static let prefix = ConfigKey(
        "store.prefix", .keyPrefix, default: "", traits: KeyTraits(store: .s3, example: "backups/photos"),
        "Stands before every object's key, for a bucket that holds other things too.")
    static let awsProfile = ConfigKey(
        "store.profile", ValueKind.awsProfile.orNull(), default: nil, traits: KeyTraits(store: .s3, example: "default"),
        "Which profile of the shared AWS files gives the credentials. Without it AWS_PROFILE is asked, then the "
            + "profile \"default\" taken.")

    static let encryption = ConfigKey(
        "store.encryption", .choice, default: S3StoreSettings.Encryption.none,
        traits: KeyTraits(store: .s3, example: "sse-kms"),
        "What the store is asked to encrypt with: keys of its own (sse-s3), or a key of its key service (sse-kms); "
            + "nothing is stored where it does not. none, the default, leaves it to the bucket.")
    static let encryptionKey = ConfigKey(
        "store.kms_key", ValueKind.kmsKey.orNull(), default: nil,
        traits: KeyTraits(store: .s3, example: "alias/photos"),
        "The key for sse-kms, by id, alias or ARN. Without it the store takes the account's own.")
    static let checksums = ConfigKey(
        "store.checksums", .choice, default: S3StoreSettings.Switch.auto, traits: KeyTraits(store: .s3),
        "Whether a SHA-256 that the store keeps goes with every object. auto sends it to Amazon and not to others; the "
            + "bytes are checked on their way in any case.")
    static let conditionalWrites = ConfigKey(
        "store.conditional_writes", .choice, default: S3StoreSettings.Switch.auto, traits: KeyTraits(store: .s3),
        "Whether the store refuses to overwrite when it is told to (If-None-Match). auto finds out, and looks first "
            + "until it knows.")

    static let storageClass = ConfigKey(
        "store.storage_class", .storageClass, default: StorageClass.standard, traits: KeyTraits(store: .s3),
        "The storage class of new photos, originals and event photos, until they move to the archive. Small and short-lived "
            + "objects (manifests, shares, the catalogue) stay in STANDARD. A store that does not have the class gets nothing."
    )
    static let tags = ConfigKey(
        "store.tags", .tags, default: [:], traits: KeyTraits(store: .s3, example: "{owner: ana}"),
        "Tags of each object that is put, for bills and rules of the bucket. It takes the permission s3:PutObjectTagging."
    )
    static let requestPayer = ConfigKey(
        "store.request_payer", .choice, default: S3StoreSettings.RequestPayer.owner, traits: KeyTraits(store: .s3),
        "Who pays for requests and traffic: the bucket's owner, or the account of these credentials (requester), as a "
            + "requester-pays bucket wants it.")

    static let partSize = ConfigKey(
        "store.part_size", .byteSize((5 << 20)...(5 << 30)), default: 16 << 20, traits: KeyTraits(store: .s3),
        "How large the parts are in which files of 64 MiB and more are sent. A file that would have more than 10,000 of them "
            + "gets larger ones.")
    static let attempts = ConfigKey(
        "store.attempts", .integer(1...10), default: 3, traits: KeyTraits(store: .s3),
        "How often a request is sent in all, when its failure may pass, before the photo waits for another try.")

    static let dualStack = ConfigKey(
        "store.dualstack", ValueKind.flag.orNull(), default: nil, traits: KeyTraits(store: .s3, example: "false"),
        "Whether Amazon's endpoints for IPv6 and IPv4 are asked, those that give credentials included. Not with an endpoint of "
            + "one's own. Without it AWS_USE_DUALSTACK_ENDPOINT and the profile decide.")
    static let fips = ConfigKey(
        "store.fips", ValueKind.flag.orNull(), default: nil, traits: KeyTraits(store: .s3, example: "false"),
        "Whether Amazon's endpoints for FIPS 140 are asked, which some regions have, those that give credentials included. "
            + "Not with an endpoint of one's own. Without it AWS_USE_FIPS_ENDPOINT and the profile decide.")

    static let catalog = ConfigKey(
        "store.catalog", .choice, default: CatalogSwitch.on,
        "Whether the store keeps a catalogue of names, paths and shares, by which it brings everything back when this disk is "
            + "gone. off: who reads the bucket sees no paths, and photos come back without their names.")
    static let machineName = ConfigKey(
        "machine.name", ValueKind.machineName.orNull(), default: nil, traits: KeyTraits(example: "laptop"),
        "What this machine is called in the store's catalogue; null for the name of the host.")

    static let watchKind = ConfigKey(
        "watch[].kind", .choice, required: WatchedFolder.Kind.gallery,
        "What the folder holds: photos of a gallery, vacations (a folder for each trip), or projects.")
    static let watchPath = ConfigKey(
        "watch[].path", .path, required: "~/Pictures/Gallery",
        "The folder. It may not lie in another watched folder, nor hold the store or the state folder.")
    static let watchProfile = ConfigKey(
        "watch[].profile", ValueKind.keySegment.orNull(), default: nil, traits: KeyTraits(example: "grandma"),
        "Whose gallery it is. Only a gallery has one.")

    static let watchFilter = ConfigKey(
        "watch[].filter", .pathFilter, default: PathFilter(),
        traits: KeyTraits(example: "[\"- *.CR2\", \"- /Drafts/\"]"),
        "Which files are left out: rules as of rclone's --filter, \"- PATTERN\" (left out) or \"+ PATTERN\" (stored); the first "
            + "that matches decides, and a file that none matches is stored. What is stored already stays stored.")

    static let maximumDimension = ConfigKey(
        "photos.max_dimension", .integer(1...65_500), default: 2_048,
        "The longer side of a stored copy, in pixels. Smaller photos are never enlarged; JPEG files among them are "
            + "encoded again where that saves a tenth.")
    static let quality = ConfigKey(
        "photos.quality", .integer(1...100), default: 80,
        "JPEG quality of a stored copy.")
    static let stripLocation = ConfigKey(
        "photos.strip_location", .flag, default: false,
        "Leaves all that says where out of the stored copy: positions, names of places, captions. What cannot be freed "
            + "of it (raw files, films that tell it) is not stored.")

    static let originals = ConfigKey(
        "photos.keep_originals", .choice, default: OriginalsPolicy.off,
        "Whether the bytes of photos are kept, too, beside their reduced copies: true as they are, jxl JPEG files as "
            + "JPEG XL (a fifth smaller, and the same bytes come back). They are stored after all that waits.")

    static let batchSize = ConfigKey(
        "upload.batch_size", .integer(1...16), default: 3,
        "How many objects are on their way at the same time. Where it is not set, more may be, up to 32, when the "
            + "server is far away and that is faster; not with upload.bandwidth_limit. Beside these, small photos go "
            + "into the embedded store in groups.")
    static let settle = ConfigKey(
        "upload.settle_seconds", .seconds(from: 0, to: 3_600), default: .seconds(2),
        "How long a new file has to be quiet before it counts as whole.")
    static let rescan = ConfigKey(
        "upload.rescan_minutes", .minutes(1...525_600), default: .seconds(3_600),
        "How often all folders are read anew, in case a change went unseen.")
    static let bandwidthLimit = ConfigKey(
        "upload.bandwidth_limit", ValueKind.bandwidth(from: 16 << 10).orNull(), default: nil,
        traits: KeyTraits(example: "2MiB"),
        "How much of the line all uploads together may take; null for all of it. A timetable is that of rclone's --bwlimit, by "
            + "the clock of this machine; UP:DOWN limits downloads, too. The embedded store needs no limit.")

    static let tierMode = ConfigKey(
        "tiers.mode", .choice, default: TierMode.bucket,
        "Who moves old photos to the archive: rules of the bucket, the agent, or nobody (off).")
    static let archiveAfterDays = ConfigKey(
        "tiers.archive_after_days", .integer(0...36_500), default: 180,
        "The age at which a photo moves to the archive; 0 means at the next pass.")
    static let originalsAfterDays = ConfigKey(
        "tiers.originals_after_days", .integer(0...36_500), default: 0,
        "The age at which a kept original moves to the archive; 0 means at the next pass.")
    static let minimumArchiveBytes = ConfigKey(
        "tiers.minimum_archive_bytes", .integer(0...1_099_511_627_776), default: 131_072,
        "Smaller objects stay where they are: archiving them costs more than it saves.")

    static let eventDays = ConfigKey(
        "retention.event_days", .integer(0...36_500), default: 90,
        "The age at which a gallery event's photo is archived and its text deleted.")
    static let retentionBatch = ConfigKey(
        "retention.batch_size", .integer(1...10_000), default: 500,
        "How many events are handled together, more where a file holds many. Batches follow until none is due.")
    static let retentionTime = ConfigKey(
        "retention.at", .timeOfDay, default: TimeOfDay(hour: 0, minute: 0),
        "When the daily pass runs.")
    static let retentionZone = ConfigKey(
        "retention.time_zone", .timeZone, default: TimeZone(identifier: "America/Los_Angeles") ?? .gmt,
        "The time zone of that time.")

    static let restoreDays = ConfigKey(
        "restore.days", .integer(1...3_650), default: 30,
        "How long a restored copy stays readable.")
    static let restoreTier = ConfigKey(
        "restore.tier", .choice, default: RestoreTier.standard,
        "How fast, and how dear, a restore is when nothing is said.")
    static let restorePoll = ConfigKey(
        "restore.poll_minutes", .minutes(1...1_440), default: .seconds(900),
        "How often the store is asked how far a restore is.")
    static let maximumCost = ConfigKey(
        "restore.max_cost_usd", ValueKind.number(from: 0, to: 1_000_000).orNull(), default: nil,
        traits: KeyTraits(example: "5.50"),
        "A restore that would cost more is refused; null for no limit.")

    static let prices = ConfigKey(
        "cost.prices", ValueKind.path.orNull(), default: nil, traits: KeyTraits(example: "~/prices.yaml"),
        "A file with the prices that estimates are made from; null for Amazon's list prices in us-east-1.")

    static let sharePhotos = ConfigKey(
        "share.max_photos", .integer(1...10_000), default: 50,
        "How many photos a share has at most.")
    static let shareDays = ConfigKey(
        "share.expire_days", .integer(1...3_650), default: 30,
        "After how many days a share's objects are deleted.")
    static let shareBaseURL = ConfigKey(
        "share.public_base_url", ValueKind.address().orNull(), default: nil,
        traits: KeyTraits(example: "https://photos.example.net"),
        "The address at which everybody can read the objects below shares/, if they can, with store.prefix where one is "
            + "set; links then have no end of their own.")

    static let shareLanguage = ConfigKey(
        "share.language", .choice, default: PageLanguage.en,
        "The language of a share's page where its script does not run, and of what messengers show beside a link. A browser "
            + "shows the page in its reader's language, where that is one of these.")
    static let shareRegion = ConfigKey(
        "share.phone_region", ValueKind.phoneRegion.orNull(), default: nil, traits: KeyTraits(example: "DE"),
        "The country whose telephone numbers may be written without a country code, as two letters.")

    static let keepTitles = ConfigKey(
        "retention.keep_titles", .flag, default: true,
        "Whether an archived photo keeps the title of its event, as metadata of the object.")

    static let verifyPercent = ConfigKey(
        "verify.percent_per_day", .number(from: 0, to: 100), default: 1,
        "How much of what is stored the agent reads back each day, the longest unproven first; 0 for nothing.")
    static let verifyBudget = ConfigKey(
        "verify.max_usd_per_month", .number(from: 0, to: 1_000_000), default: 1,
        "What that may cost in a month, in US dollars, where Amazon bills it. What it leaves is for the next month.")

    static let projectVersions = ConfigKey(
        "projects.versions", .integer(1...100), default: 5,
        "How many earlier images of a project stay in the store, and earlier states of each other file in its folder.")

    static let serveEnabled = ConfigKey(
        "serve.enabled", .flag, default: false,
        "Whether the agent shows the gallery too, as sync-agent serve does.")
    static let serveListen = ConfigKey(
        "serve.listen", .listenAddress, default: .gallery,
        "Where the gallery is shown. Beyond this machine it needs serve.password_file.")
    static let servePassword = ConfigKey(
        "serve.password_file", ValueKind.path.orNull(), default: nil,
        traits: KeyTraits(example: "~/.config/sync-agent/password"),
        "A file of mode 0600 whose first line is the password of the gallery.")
    static let serveBaseURL = ConfigKey(
        "serve.base_url", ValueKind.address(hasPath: false).orNull(), default: nil,
        traits: KeyTraits(example: "https://photos.example.net"),
        "Under which address others reach the gallery, where a proxy stands before it.")

    static let notifyCommand = ConfigKey(
        "notify.command", .command, default: [], traits: KeyTraits(example: "[notify-send, done]"),
        "A program to start when there is news: restores, shares, and what is wrong. No shell comes between.")
    static let notifyWebhook = ConfigKey(
        "notify.webhook", ValueKind.address(isSecret: true).orNull(), default: nil,
        traits: KeyTraits(isSecret: true, example: "https://hooks.example.net/T0/B1"),
        "An address that gets the same news. It counts as a secret: the file should have mode 0600.")

    static let notifyKinds = ConfigKey(
        "notify.kinds", .noticeKinds, default: Set(Notice.Kind.allCases),
        traits: KeyTraits(example: "[photoFailed, storeAway, damageFound]"),
        "What is told: all, or a list of kinds.")
    static let heartbeat = ConfigKey(
        "notify.heartbeat", ValueKind.address(isSecret: true).orNull(), default: nil,
        traits: KeyTraits(isSecret: true, example: "https://hc-ping.example.net/b2c3d4"),
        "An address that is called (GET) after each whole pass after which nothing has failed and nothing is lost, so that "
            + "its silence is the alarm. It counts as a secret.")

    static let metricsFile = ConfigKey(
        "metrics.textfile", ValueKind.path.orNull(), default: nil,
        traits: KeyTraits(example: "/var/lib/prometheus/node-exporter/sync-agent.prom"),
        "A file for the textfile collector of Prometheus' node exporter, written each minute and after each pass; null for "
            + "none. Its name has to end in .prom.")

    /// In the order of the reference.
    static let all: [KeyDescription] = [
        user.description,
        storeType.description, storePath.description, restoreSeconds.description, bucket.description,
        region.description, endpoint.description, addressing.description, prefix.description, awsProfile.description,
        encryption.description, encryptionKey.description, checksums.description, conditionalWrites.description,
        storageClass.description, tags.description, requestPayer.description,
        partSize.description, attempts.description, dualStack.description, fips.description,
        catalog.description, machineName.description,
        watchKind.description, watchPath.description, watchProfile.description, watchFilter.description,
        maximumDimension.description, quality.description, stripLocation.description, originals.description,
        batchSize.description, settle.description, rescan.description, bandwidthLimit.description,
        tierMode.description, archiveAfterDays.description, originalsAfterDays.description,
        minimumArchiveBytes.description,
        eventDays.description, retentionBatch.description, retentionTime.description, retentionZone.description,
        keepTitles.description,
        restoreDays.description, restoreTier.description, restorePoll.description, maximumCost.description,
        prices.description,
        sharePhotos.description, shareDays.description, shareBaseURL.description, shareLanguage.description,
        shareRegion.description,
        verifyPercent.description, verifyBudget.description,
        projectVersions.description,
        serveEnabled.description, serveListen.description, servePassword.description, serveBaseURL.description,
        notifyCommand.description, notifyWebhook.description, notifyKinds.description, heartbeat.description,
        metricsFile.description,
    ]
}
