package import SyncCore

/// Where a vacation stands, in the words of `status --json`.
package enum VacationState: String, Hashable, Sendable, CaseIterable {
    /// Nothing of it is stored.
    case pending
    case uploading
    /// All of it is stored, as it is now.
    case stored
    /// It was stored once, and is not what it was then; or others see it as it was.
    case changed
    /// As `stored`, and others see it as it is.
    case shared
    /// Some of its photos cannot be stored.
    case incomplete
}

extension VacationRecord {
    /// - Parameters:
    ///   - isShared: whether others can see it now.
    ///   - isShownAsItIs: whether they see it as it is.
    package func state(isShared: Bool, isShownAsItIs: Bool = true) -> VacationState {
        let state = state(shared: isShared && isShownAsItIs)
        return isShared && !isShownAsItIs && state == .stored ? .changed : state
    }

    private func state(shared isShared: Bool) -> VacationState {
        if !isOnDisk { return stored == nil || lost > 0 ? .incomplete : isShared ? .shared : .stored }
        if waiting > 0 {
            if stored != nil { return .changed }
            return uploaded == 0 ? .pending : .uploading
        }
        if failed > 0 { return .incomplete }
        guard stored != nil else { return .uploading }
        return isChanged ? .changed : isShared ? .shared : .stored
    }

    /// As it was at the last look; before the first, as the name of the folder says.
    package var location: String {
        if let lookedDetails { return lookedDetails.location }
        return named.flatMap { $0.location.isEmpty ? nil : $0.location } ?? "vacation"
    }

    /// As they were at the last look; before the first, as the name of the folder says; `nil` where that is silent.
    package var days: ClosedRange<CalendarDay>? {
        if let lookedDetails { return lookedDetails.days }
        guard let start = named?.startDate, let end = named?.endDate else { return nil }
        return start...end
    }

    /// Of what is stored; where it is another by now, of what is to be stored. `nil` while no date is known.
    package var cacheKey: String? {
        if let stored, !isOnDisk || !isChanged { return stored.cacheKey }
        return days.map { VacationCacheKey.text(location: location, days: $0, photoCount: photoCount) }
    }

    /// How many photos belong to it: those on the disk, or those that were stored when it is gone from the disk.
    package var memberCount: Int { isOnDisk ? photoCount : stored?.photoCount ?? missing }
}
