package import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem
import SystemPackage

/// Turns a claim into bytes to send: read, hash, decide, reduce. Everything here blocks and runs on the worker pool.
package struct Preparer: Sendable {
    package enum Preparation: Sendable {
        case ready(PreparedFile)
        /// Nothing is to be sent, and this is why.
        case done(Outcome)
    }

    private let ledger: Ledger
    private let scanner: any TreeScanner
    private let reducer: any PhotoReducer
    private let planner: UploadPlanner
    private let projects: ProjectUploadPolicy?
    private let policy: ReducePolicy
    private let settle: Duration
    let now: @Sendable () -> Date
    let events: EventFilePreparer

    package init(
        ledger: Ledger, scanner: any TreeScanner, reducer: any PhotoReducer, planner: UploadPlanner,
        projects: ProjectUploadPolicy? = nil,
        policy: ReducePolicy, settle: Duration, now: @escaping @Sendable () -> Date
    ) {
        self.ledger = ledger
        self.scanner = scanner
        self.reducer = reducer
        self.planner = planner
        self.projects = projects
        self.policy = policy
        self.settle = settle
        self.now = now
        events = EventFilePreparer(ledger: ledger, reducer: reducer, planner: planner, policy: policy)
    }

    /// - Throws: ``LedgerError``. What is wrong with the photo is a result, not an error.
    package func prepare(_ claim: Claim) throws -> Preparation {
        // What is stored stays so: it is stored again where the store has lost it.
        if !claim.hasObject, let rule = claim.folder.filter.exclusion(of: claim.relativePath) {
            return .done(.skipped(LeftOutWords.byFilter(rule), .filtered))
        }
        if let unfinished = scanner.whyUnfinished(claim.file, claim.stamp, settle: settle, at: now()) {
            return .done(later(claim, unfinished.reason))
        }
        // What is another file by now may be a large one, and is not read in the place of the one that was queued.
        if let stamp = try? scanner.stamp(of: claim.file), !stamp.isUntouched(since: claim.stamp) {
            return .done(try changed(claim))
        }
        let decision = try projects?.decide(claim) ?? .pass
        if case .done(let outcome) = decision { return .done(outcome) }
        do {
            do {
                return try read(claim, decision)
            } catch let error as PhotoError where [.truncated, .corrupt].contains(error.code) {
                // A read may come to an end, or to other bytes, that the file does not have. It is final, and read once more.
                return try read(claim, decision)
            }
        } catch let error as PhotoError {
            if case .unfinishedImage = decision, let outcome = projects?.outcome(ofUnfinished: error) {
                return .done(outcome)
            }
            return .done(try outcome(of: error, for: claim))
        } catch let error as InvalidName {
            return .done(.failed("\(error)", nil))
        } catch let error as StoreError {
            return .ready(PreparedFile(claim: claim, content: .refused(error)))
        }
    }

    private func read(_ claim: Claim, _ decision: ProjectUploadPolicy.Decision) throws -> Preparation {
        let examined = try reducer.examine(claim.file)
        guard examined.stamp.isUntouched(since: claim.stamp) else { return .done(try changed(claim)) }
        if claim.mustBeCopy, try !ledger.holds(examined.digest, of: claim.photoID) {
            return .done(.otherPhoto(OtherDrive.isOtherPhoto))
        }
        // The list that was found good is the one that is sent.
        if case .list(let stamp) = decision, !examined.stamp.isUntouched(since: stamp) {
            return .done(try changed(claim))
        }
        return try prepare(claim, examined, decision)
    }

    private func prepare(
        _ claim: Claim, _ examined: PhotoFacts, _ decision: ProjectUploadPolicy.Decision
    ) throws -> Preparation {
        let plan = try planner.plan(kind: claim.folder.kind, relativePath: claim.relativePath, examined: examined)
        switch plan {
        case .skip(let reason, let leftOut):
            // An image that is being written may not look like one yet.
            if case .unfinishedImage = decision { throw PhotoError(.notAPhoto, reason) }
            return .done(.skipped(reason, leftOut))
        case .readEvents: return try events.prepare(claim, examined)
        case .store(let upload):
            // There is nothing to reduce or send of what is stored already: the same photo under another name or from
            // another day; or, where the bytes are a stored copy themselves (one that was restored, and put in the place
            // of its photo), the photo that they are the copy of. What is not in the pool has a name of its own.
            let found = try ledger.lookUp(
                upload.key, of: examined.digest,
                orBelow: upload.condition == .ifAbsent ? planner.keys.photos : nil)
            if found.isBeingDeleted { throw StoreError.beingDeleted(found.holding?.key ?? upload.key) }
            if let object = found.holding {
                return .ready(PreparedFile(claim: claim, content: .known(examined.digest, object)))
            }
            var typed = examined
            typed.type = upload.type
            let copy = try ledger.whileDecoding(claim) {
                try reducer.reduce(claim.file, examined: typed, policy: policy)
            }
            let photo = PreparedPhoto(claim.file, examined: typed, plan: upload, copy: copy, known: found.atKey)
            return .ready(PreparedFile(claim: claim, content: .photo(photo)))
        }
    }

    /// What an error about a claimed file comes to.
    func outcome(of error: PhotoError, for claim: Claim) throws -> Outcome {
        switch error.code {
        case .missing: try gone(claim)
        case .changed, .notAFile: try changed(claim)
        case .notStored: .skipped(error.message)
        case .unreadable, .outOfResources: postponed(claim, error)
        case .truncated, .corrupt, .unsupported, .overLimit, .notAPhoto, .tellsPlace, .tooSlow:
            .failed(error.message, nil)
        case .stopped: .released
        }
    }

    func postponed(_ claim: Claim, _ error: PhotoError) -> Outcome {
        .postponed(error.message, until: now() + RetryPolicy.queue.delay(afterAttempt: claim.attempts, random: 1))
    }

    /// The file is another one by now. Once it is quiet, the ledger learns its new stamp, and it is queued anew.
    private func changed(_ claim: Claim) throws -> Outcome {
        let found: FileStamp?
        do {
            found = try scanner.stamp(of: claim.file)
        } catch {
            // Not seen is not gone.
            return later(claim, error.message)
        }
        guard let stamp = found else { return try gone(claim) }
        guard stamp.isSettled(settle, at: now()) else { return later(claim, "it is still changing") }
        let file = SettledFile(folder: claim.folder.id, path: claim.relativePath, stamp: stamp)
        let drive = FolderDrives(ledger: ledger, scanner: scanner).seen(in: [claim.folder])
        let observed = try ledger.observe([file], drive: drive, stillThere: scanner.isFile, at: now())
        if observed.waiting > 0 {
            let reason = try whyAway(claim) ?? "another drive was in its place a moment ago"
            return away(claim, reason)
        }
        return later(claim, "it changed while it was read")
    }

    /// The file is not there. Where it may be on a drive that is not mounted, nothing is concluded from that.
    private func gone(_ claim: Claim) throws -> Outcome {
        guard let reason = try whyAway(claim) else { return .vanished }
        return claim.mustBeCopy ? .copyGone : away(claim, reason)
    }

    private func whyAway(_ claim: Claim) throws -> String? {
        try FolderPresence(ledger: ledger, scanner: scanner).glance(at: claim.folder).whyAway(claim.relativePath)
    }

    private func away(_ claim: Claim, _ reason: String) -> Outcome {
        let pause = RetryPolicy.queue.delay(afterAttempt: claim.attempts, random: 1)
        return .postponed("it is not seen: \(reason). Is its drive mounted?", until: now() + pause)
    }

    /// Soon at first, then less and less often: when the file is closed or changes again, intake brings it back at once.
    func later(_ claim: Claim, _ message: String) -> Outcome {
        let pause = max(settle, .milliseconds(500)) * (1 << min(claim.attempts - 1, 5))
        return .postponed(message, until: now() + pause)
    }
}

extension Date {
    static func + (date: Date, duration: Duration) -> Date {
        date.addingTimeInterval(duration / .seconds(1))
    }

    static func - (later: Date, earlier: Date) -> Duration {
        .seconds(later.timeIntervalSince(earlier))
    }
}

/// A claimed file that is ready to be sent.
package struct PreparedFile: Sendable {
    package enum Content: Sendable {
        case photo(PreparedPhoto)
        /// The same bytes are stored, as far as the ledger knows: the store is asked whether that is so.
        case known(ContentDigest, ObjectRecord)
        /// Photos inside of the file, made ready one after the other.
        case events(PreparedEvents)
        /// It is no use to send it now, as if the store had said so.
        case refused(StoreError)
    }

    package let claim: Claim
    package let content: Content
}

extension StoreError {
    /// What is there may be gone in a moment. When it is, the photo is stored anew.
    ///
    /// That spares vain work, and nothing more: of a deletion that begins later, the commit of what was sent decides.
    static func beingDeleted(_ key: ObjectKey) -> StoreError {
        StoreError(
            .conflict, operation: "put", key: key.rawValue,
            message:
                "what is stored of this photo is being deleted for good (sync-agent forget); the photo is stored when "
                + "that is done")
    }
}

/// Why something is not stored, in words that stand in several places.
enum LeftOutWords {
    static func byFilter(_ rule: String) -> String { "left out by the filter of its folder (\(rule.escapingControls))" }
}
