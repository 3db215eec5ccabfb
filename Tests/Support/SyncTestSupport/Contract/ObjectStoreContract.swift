import SyncCore

/// The promises of ``ObjectStore``, each a clause that any store can be held against.
///
/// ```swift
/// @Test(arguments: stores, ObjectStoreContract.allCases)
/// func `keeps its promises`(store: StoreKind, clause: ObjectStoreContract) async throws {
///     try await clause.check(store.make())
/// }
/// ```
package enum ObjectStoreContract: String, Sendable, CaseIterable {
    // Objects
    case aUsableStorePassesItsCheck
    case bytesAndAttributesComeBack
    case awkwardMetadataComesBack
    case anEmptyObjectIsAnObject
    case eightMebibytesComeBack
    case headOfNothingIsNil
    case getOfNothingThrowsNotFound
    case deletingTwiceIsNoError
    case aDeletedKeyCanBeUsedAgain
    // Conditions
    case overwriteReplacesBytesAndAttributes
    case ifAbsentRefusesWhatExists
    case oneOfEightRacingPutsWins
    case anArchivedObjectIsNotOverwritten
    case anArchivedObjectIsNotRead
    // Integrity
    case bytesWithAWrongDigestAreRefused
    case aFileIsStored
    case anEmptyFileIsStored
    case aPatchedFileIsStored
    case aFileThatChangedIsRefused
    case aFileThatIsGoneIsRefused
    case aCancelledPutLeavesNothing
    case whatTheSinkThrowsEndsTheRead
    // Ranges
    case rangesAreCutOutExactly
    case aRangePastTheEndIsRefused
    // Keys and lists
    case awkwardKeysAreKeys
    case aKeyMayBeginWithAnother
    case keysOfOneThousandBytesAreKeys
    case listsArePagedInByteOrder
    case aPrefixIsNoFolder
    case aListTellsSizesAndClasses
    case listsSeeEveryPutAndDelete
    case manyObjectsAreDeletedAtOnce
    // Copies
    case aCopyIsEqual
    case aCopyInPlaceChangesTheClass
    case anArchivedObjectIsNotCopied
    case aCopyIfAbsentRefusesWhatExists
    // Archive
    case anArchivedObjectComesBack
    case aRestoreExpires
    case restoringTwiceIsAlreadyRetrieving
    case restoringWhatIsNotArchivedIsRefused
    case lifecycleRulesComeBack
    // Others
    case aLinkIsReadable
    case removingLeftoversHarmsNothing

    /// - Throws: ``ContractViolation``, or what the store throws where it should not.
    package func check(_ subject: StoreUnderTest) async throws {
        switch self {
        case .aUsableStorePassesItsCheck: try await subject.store.check()
        case .bytesAndAttributesComeBack: try await subject.bytesAndAttributesComeBack()
        case .awkwardMetadataComesBack: try await subject.awkwardMetadataComesBack()
        case .anEmptyObjectIsAnObject: try await subject.comesBack([], "empty.dat")
        case .eightMebibytesComeBack: try await subject.comesBack(.noise(8 << 20), "large.dat")
        case .headOfNothingIsNil: try await subject.headOfNothingIsNil()
        case .getOfNothingThrowsNotFound: try await subject.getOfNothingThrowsNotFound()
        case .deletingTwiceIsNoError: try await subject.deletingTwiceIsNoError()
        case .aDeletedKeyCanBeUsedAgain: try await subject.aDeletedKeyCanBeUsedAgain()
        case .overwriteReplacesBytesAndAttributes: try await subject.overwriteReplacesBytesAndAttributes()
        case .ifAbsentRefusesWhatExists: try await subject.ifAbsentRefusesWhatExists()
        case .oneOfEightRacingPutsWins: try await subject.oneOfEightRacingPutsWins()
        case .anArchivedObjectIsNotOverwritten: try await subject.anArchivedObjectIsNotOverwritten()
        case .anArchivedObjectIsNotRead: try await subject.anArchivedObjectIsNotRead()
        case .bytesWithAWrongDigestAreRefused: try await subject.bytesWithAWrongDigestAreRefused()
        case .aFileIsStored: try await subject.fileIsStored(.noise(700_001), "photo.jpg")
        case .aPatchedFileIsStored: try await subject.aPatchedFileIsStored()
        case .anEmptyFileIsStored: try await subject.fileIsStored([], "empty.jpg")
        case .aFileThatChangedIsRefused: try await subject.aFileThatChangedIsRefused()
        case .aFileThatIsGoneIsRefused: try await subject.aFileThatIsGoneIsRefused()
        case .aCancelledPutLeavesNothing: try await subject.aCancelledPutLeavesNothing()
        case .whatTheSinkThrowsEndsTheRead: try await subject.whatTheSinkThrowsEndsTheRead()
        case .rangesAreCutOutExactly: try await subject.rangesAreCutOutExactly()
        case .aRangePastTheEndIsRefused: try await subject.aRangePastTheEndIsRefused()
        case .awkwardKeysAreKeys: try await subject.awkwardKeysAreKeys()
        case .aKeyMayBeginWithAnother: try await subject.aKeyMayBeginWithAnother()
        case .keysOfOneThousandBytesAreKeys: try await subject.keysOfOneThousandBytesAreKeys()
        case .listsArePagedInByteOrder: try await subject.listsArePagedInByteOrder()
        case .aPrefixIsNoFolder: try await subject.aPrefixIsNoFolder()
        case .aListTellsSizesAndClasses: try await subject.aListTellsSizesAndClasses()
        case .listsSeeEveryPutAndDelete: try await subject.listsSeeEveryPutAndDelete()
        case .manyObjectsAreDeletedAtOnce: try await subject.manyObjectsAreDeletedAtOnce()
        case .aCopyIsEqual: try await subject.aCopyIsEqual()
        case .aCopyInPlaceChangesTheClass: try await subject.aCopyInPlaceChangesTheClass()
        case .anArchivedObjectIsNotCopied: try await subject.anArchivedObjectIsNotCopied()
        case .aCopyIfAbsentRefusesWhatExists: try await subject.aCopyIfAbsentRefusesWhatExists()
        case .anArchivedObjectComesBack: try await subject.anArchivedObjectComesBack()
        case .aRestoreExpires: try await subject.aRestoreExpires()
        case .restoringTwiceIsAlreadyRetrieving: try await subject.restoringTwiceIsAlreadyRetrieving()
        case .restoringWhatIsNotArchivedIsRefused: try await subject.restoringWhatIsNotArchivedIsRefused()
        case .lifecycleRulesComeBack: try await subject.lifecycleRulesComeBack()
        case .aLinkIsReadable: try await subject.aLinkIsReadable()
        case .removingLeftoversHarmsNothing: try await subject.removingLeftoversHarmsNothing()
        }
    }
}
