package import SyncCore

/// What the server can do. The default is Amazon; the rest imitates other stores.
package struct StoreAbilities: Sendable {
    package enum ConditionalPut: Sendable {
        case honoured
        /// The header is not looked at, and what is there is overwritten.
        case ignored
        /// 501.
        case refused
    }

    package enum ChecksumHeaders: Sendable {
        case checked
        /// 400 InvalidArgument.
        case badRequest
        /// 501.
        case notImplemented
    }

    package enum Restores: Sendable {
        /// Days and tier, with Amazon's rules for each class.
        case everyTier
        /// Bulk and Expedited answer 501.
        case standardTierOnly
        /// A request with GlacierJobParameters answers 400 MalformedXML.
        case daysOnly
        /// 501.
        case notImplemented
    }

    package var conditionalPut = ConditionalPut.honoured
    package var checksumHeaders = ChecksumHeaders.checked
    /// Others than these answer 400 InvalidStorageClass.
    package var storageClasses: Set<StorageClass> = amazonClasses
    /// Whether a class that is not there is refused by name. Ceph says 400 InvalidArgument and no more.
    package var namesRefusedClasses = true
    /// Whether listings tell classes. Others call everything STANDARD there.
    package var listsStorageClasses = true
    package var restores = Restores.everyTier
    /// Whether a list that asks for RestoreStatus gets it.
    package var listsRestoreStatus = true
    /// Of all parts but the last. Amazon's 5 MiB; tests may take less.
    package var minimumPartBytes = 5 << 20

    package init() {}

    package static let amazonClasses: Set<StorageClass> = Set(
        [
            "STANDARD", "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ].map { StorageClass(rawValue: $0) })
}
