package import Foundation
package import SyncCore
import SyncDigest
package import SyncSystem
package import SystemPackage

/// Downloads archived photos that can be read, into a folder or a ZIP file.
package struct ArchiveDownload: Sendable {
    package typealias Outcome = DownloadBatch.Outcome

    private let store: any ObjectSource
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameter store: its reads are written where they arrive, on the store's own thread.
    package init(from store: any ObjectSource, pool: BlockingPool, time: TimeSource) {
        self.store = store
        self.pool = pool
        self.time = time
    }

    /// Files have the time of their events. What is there already is not fetched again, and nothing is replaced. What
    /// gets the folder's name meanwhile gets none of them.
    /// - Parameter finished: called as photos are done, with how many.
    /// - Returns: an outcome for each photo, in their order.
    package func save(
        _ memories: [ArchivedGalleryPhoto], to folder: FilePath, finished: (Int) -> Void
    ) async -> [Outcome] {
        let home: HeldFolder
        do {
            home = try await pool.run { try HeldFolder(folder) }
        } catch {
            return memories.map { _ in .failure(error) }
        }
        let tasks = memories.map {
            DownloadTask(
                key: $0.key, folder: home.held, name: ArchiveFileName.name(of: $0), sha256: $0.sha256,
                modified: $0.createdAt)
        }
        var done = 0
        let outcomes = await DownloadBatch(download: ObjectDownload(store: store, pool: pool, time: time)).run(
            tasks,
            finished: { _, _ in
                done += 1
                finished(done)
            })
        await DownloadBatch.removeLeftovers(home.held, after: outcomes, pool, now: time.now())
        return outcomes.map { outcome in outcome.mapError { home.told($0) } }
    }

    /// One after the other: a photo that cannot be read is left out. The archive is finished, unless nothing is in it.
    /// - Parameters:
    ///   - path: of the archive. Beside it, a hidden folder holds one photo at a time.
    ///   - finished: called as photos are done, with how many.
    /// - Returns: an outcome for each photo, in their order.
    /// - Throws: ``ZipError`` when the archive is lost, ``DownloadError`` about the scratch folder, `CancellationError`.
    package func save(
        _ memories: [ArchivedGalleryPhoto], into archive: any ZipWriter, at path: FilePath, finished: (Int) -> Void
    ) async throws -> [Outcome] {
        let download = try await ZipDownload(from: store, into: archive, at: path, pool: pool, time: time)
        let result = await Result {
            var outcomes: [Outcome] = []
            for memory in memories {
                outcomes.append(try await save(memory, by: download, after: outcomes.last))
                finished(outcomes.count)
            }
            if outcomes.contains(where: { (try? $0.get()) != nil }) { try await pool.run { try archive.finish() } }
            return outcomes
        }
        await download.cleanUp()
        return try result.get()
    }

    private func save(
        _ memory: ArchivedGalleryPhoto, by download: ZipDownload, after last: Outcome?
    ) async throws -> Outcome {
        // The next photo would meet the same.
        if case .failure(let error) = last, DownloadBatch.concernsAll(error) { return .failure(error) }
        do {
            return .success(
                try await download.add(
                    memory.key, as: ArchiveFileName.name(of: memory).string, sha256: memory.sha256,
                    modified: memory.createdAt))
        } catch let error as ZipError where !error.isAboutOneEntry {
            throw error
        } catch  where !(error is CancellationError) {
            return .failure(error)
        }
    }
}

/// Names of downloaded photos: `2025-10-20_{profile}_{eventId}.jpg`, the same for the same photo whatever else is saved.
/// It ends as the photo's bytes want it, whatever the key ends with.
package enum ArchiveFileName {
    /// Bytes of each part.
    private static let longest = 100

    static func name(of memory: ArchivedGalleryPhoto) -> FilePath.Component {
        name(of: memory.place, createdAt: memory.createdAt, contentType: memory.contentType)
    }

    package static func name(
        of place: ArchivedPhotoPlace, createdAt: Date, contentType: String?
    ) -> FilePath.Component {
        let (profile, event) = (place.profile, place.eventID)
        var name = "\(CalendarDay(createdAt))_\(plain(profile))_\(plain(event))"
        // Two keys must never have one name. With an underscore in the profile, nobody could tell where it ends; and texts of
        // other bytes may be one name to a disk, and to Swift (UAX #15).
        let isExact = [profile, event].allSatisfy {
            plain($0) == $0 && $0.precomposedStringWithCanonicalMapping.inBytes == $0.inBytes
        }
        if !isExact || profile.contains("_") {
            let digest = SHA256Digest(of: Array(place.key.rawValue.utf8))
            name += "_" + digest.description.prefix(8)
        }
        guard let component = FilePath.Component("\(name).\(MediaType.ending(ofContentType: contentType))")
        else {
            preconditionFailure("letters and digits make a name")
        }
        return component
    }

    /// With `_` in the place of all but letters, digits and what is harmless in names everywhere.
    private static func plain(_ text: String) -> String {
        var name = String(text.map { $0.isLetter || $0.isNumber || "-_.+@".contains($0) ? $0 : "_" })
        while name.utf8.count > longest { name.removeLast() }
        return name
    }
}
