import SyncCore
import Testing

@testable import SyncLedger

@Suite struct LedgerQueryTests {
    @Test(arguments: LedgerQuery.cheap)
    func `no query walks a table that grows with the photos, or sorts one`(query: String) throws {
        let steps = try Ledger.inMemory().plan(of: query)
        #expect(!steps.isEmpty)
        for table in [
            "photos", "objects", "directories", "attempts", "restore_items", "items", "events", "event_files",
        ] {
            #expect(!steps.contains { $0.hasPrefix("SCAN \(table)") }, "\(steps)")
        }
        #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
    }

    @Test(arguments: [
        (LedgerQuery.openItemOfKey, "restore_items_open (key=?)"),
        (LedgerQuery.claimableItems, "restore_items_planned (job_id>? AND job_id<?)"),
        (LedgerQuery.itemsOfJob, "restore_items_by_job (job_id=? AND rowid>?)"),
        (LedgerQuery.unsavedItems, "restore_items_unsaved (job_id=? AND rowid>?)"),
        (LedgerQuery.endedItem, "restore_items_ending (expires_at<?)"),
        (LedgerQuery.itemEndedEarly, "restore_items_ended (expires_at>?)"),
        (LedgerQuery.endedObject, "objects_restored (restored_until<?)"),
        (LedgerQuery.nextItemEnd, "restore_items_ending (expires_at>?)"),
        (LedgerQuery.nextObjectEnd, "objects_restored (restored_until>?)"),
        (LedgerQuery.archiveCandidates(classes: 1), "objects_unarchived ((stored_at,key)>(?,?) AND stored_at<?)"),
        (LedgerQuery.listedObjects, "USING COVERING INDEX objects_listed (key>? AND key<?)"),
        (LedgerQuery.listedObjectsAndDigests, "USING INDEX objects_listed (key>? AND key<?)"),
        (LedgerQuery.photosOfObject, "photos_by_object (object_id=?)"),
        (LedgerQuery.restoredAlbums, "restore_items_by_job (job_id>?)"),
        (LedgerQuery.albumsTaken, "objects_archived_by_taken (taken_at>? AND taken_at<?)"),
        (LedgerQuery.datedBefore, "objects_taken_before (id>?)"),
        (LedgerQuery.archiveBacklog, "PRIMARY KEY (family=? AND storage_class=?)"),
        (LedgerQuery.dueEvents, "events_due (created_at>? AND created_at<?)"),
        (LedgerQuery.dueEventCount, "events_due (created_at<?)"),
        (LedgerQuery.filesOfEvent, "PRIMARY KEY (event=?)"),
        (LedgerQuery.eventsOfFile, "event_files_by_photo (photo_id=?)"),
        (LedgerQuery.projectsToGiveUp, "projects_processing (folder=? AND created_at<?)"),
    ])
    func `a page begins where the last one ended`(query: String, search: String) throws {
        let steps = try Ledger.inMemory().plan(of: query)
        #expect(steps.contains { $0.hasSuffix(search) }, "\(steps)")
    }

    @Test(arguments: [
        (LedgerQuery.fresh, "photos_queue"), (LedgerQuery.due, "photos_queue"), (LedgerQuery.nextTry, "photos_queue"),
        (LedgerQuery.oldestFailed, "photos_unsynced"), (LedgerQuery.oldestUploading, "photos_unsynced"),
        (LedgerQuery.oldestPending, "photos_unsynced"), (LedgerQuery.inHand, "photos_unsynced"),
        (LedgerQuery.rowsOfStamp, "photos_by_inode"), (LedgerQuery.rowsOfDirectory, "(directory_id=?)"),
        (LedgerQuery.directoryOfUntold, "photos_untold (folder_id=? AND directory_id>?)"),
    ])
    func `each query uses its index`(query: String, index: String) throws {
        let steps = try Ledger.inMemory().plan(of: query)
        #expect(steps.contains { $0.hasPrefix("SEARCH photos") && $0.contains(index) }, "\(steps)")
    }
}

extension LedgerQuery {
    /// Whose cost must not grow with the number of photos.
    fileprivate static let cheap: [String] = [
        directory, directoriesInRange, digestsInRange, rowsOfDirectory, rowOfFile, rowsOfStamp, placeOfRow,
        placeOfDirectory, fresh, due, astray, nextTry, inHand, rowOfPhoto, photoTallies, objectTallies,
        oldestPending, oldestUploading, oldestFailed, firstFailed, firstDelayed, leftOutCount, filteredCount,
        leftOut, triedSince, malformedEventFiles, object, photosOfDirectory, photoOfFile, photosOfStem, photo,
        nextDirectory, objectAges, archiveBacklog, reportedObject, photosOfObject, archiveCandidates(classes: 2), job,
        newestJobs, progressOfJob, itemsOfJob, openItemOfKey, retrievingItemsOfJob, claimableItems,
        restoreClaimOwners, restoreTallies, unsavedItems, endedMarks, endedItem, endedObject, itemEndedEarly,
        nextItemEnd, nextObjectEnd, firstJobSince,
        restoredAlbums, albumsTaken, photosOfAlbum, datedBefore, share, openShare, unendedShares, newestShares,
        photosOfShare, vacationsOfFolder, vacation, vacationsOfKey, changedVacations, photosOfVacation,
        filesOfVacation, manifestsWritten, vacationSet, dueOfVacation, nextTryOfVacation, event, eventOfRow,
        eventsOfID, eventInFolder, firstFileOfEvent, eventsOfFile, eventsOfProfile, dueEvents, dueEventCount,
        generationOfPhoto, filesOfEvent, photoBeside, eventTallies, newestRetentionRecords, queuedEventFiles,
        eventFilesInHand,
        unreadableEventFiles, allMalformedEventFiles, projectsOfFolder, project, projectsToGiveUp,
        versionsOfProject, versionsInUse, ownPhotoOfObject, cataloguedInDirectory, statesOfProjectImages, firstUnsynced,
        unfinishedImages,
        brokenObject, brokenObjectOfPhoto, firstLost, listedObjects, listedObjectsAndDigests, longestUnproven,
        oldestProof, anyPhotosOfObject, objectOfDigest, versionsOfPhoto, photosOfVersion, brokenStock,
        lostBesidePhotos, brokenWithoutFile, objectsOfDigest, objectsOfPhoto, photosWithoutOriginal,
        brokenOfUnwatched, storedOfUnwatched(.pending), storedOfUnwatched(.failed), originals, photoOfKey, fileOfKey,
        counters, verifiedObjects, retentionRuns, timelineOfObject,
        directoryOfUntold, versionOfKey, copiesToMakeAnew, missingPhotoOfObject,
    ]
}
