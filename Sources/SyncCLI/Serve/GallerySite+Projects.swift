import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// Generated images, as a grid that can be searched.
extension GallerySite {
    private static let projectsOfPage = 60

    func projects(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        let text = request.query("q").flatMap { $0.isEmpty ? nil : String($0.prefix(200)) }
        let status = request.query("status").flatMap { ProjectRecord.Status(argument: $0) }
        let filter = ProjectFilter(text: text, status: status)
        let entries = try await projectEntries()
        let found = entries.filter { filter.accepts($0.record) }
        let start = min(max(request.query("from").flatMap { Int($0) } ?? 0, 0), found.count)
        let shown = found[start...].prefix(Self.projectsOfPage)
        let (policy, now) = (policy, workspace.time.now())
        let badges = try await ledger { ledger in
            try shown.map { entry in
                try entry.image.map { try PhotoStatusText($0, policy: policy, in: ledger, now: now).badge?.symbol }
                    ?? nil
            }
        }
        let places = try await places()
        let rows = zip(shown, badges).map { entry, badge in
            var facts = [Quantities.day(entry.record.createdAt)]
            if entry.versions > 0 { facts.append(Quantities.counted(entry.versions, "earlier image")) }
            if let other = entry.project.duplicateOf { facts.append("the same image as \(other.escapingControls)") }
            if let reason = entry.reason { facts.append(places.removed(from: reason.escapingControls)) }
            let photo = entry.image?.md5 ?? entry.object?.md5
            return SitePage.Listing.Row(
                title: entry.name, state: [badge, entry.state.rawValue].compactMap(\.self).joined(separator: " "),
                facts: facts, link: "/projects/\(entry.record.id.uriEncoded())",
                picture: photo.map { "/thumbnail/\($0)" })
        }
        let end = start + shown.count
        let query = [("q", text), ("status", status?.rawValue), ("from", "\(end)")]
            .compactMap { name, value in value.map { "\(name)=\($0.uriEncoded())" } }.joined(separator: "&")
        let statuses = ProjectRecord.Status.allCases.map {
            SitePage.Timeline.Choice(value: $0.rawValue, label: $0.rawValue, isChosen: $0 == status)
        }
        let search = SitePage.Listing.Search(
            address: "/projects", text: text ?? "", label: "Name, template, id or request",
            filters: [
                .init(
                    name: "status", label: "Status",
                    choices: [.init(value: "", label: "All", isChosen: status == nil)] + statuses)
            ], isFiltered: text != nil || status != nil)
        return page(
            "Projects", .projects, session,
            .list(
                .init(
                    rows: Array(rows),
                    whenEmpty: entries.isEmpty
                        ? "No projects yet: they come with a folder of kind projects." : "No projects match.",
                    search: search, next: end < found.count ? "/projects?\(query)" : nil)))
    }

    /// None where no folder has any.
    private func projectEntries() async throws -> [ProjectEntry] {
        workspace.settings.watch.contains { $0.kind == .projects } ? try await workspace.projects() : []
    }

    func project(_ id: String, _ session: String) async throws -> WebResponse {
        guard let entry = try await projectEntries().first(where: { $0.record.id == id }) else {
            return notFound("There is no such project.", session)
        }
        let (versions, places) = (try await ledger { try $0.projectVersions(of: id) }, try await places())
        let record = entry.record
        var facts: [SitePage.Fact] = [
            .init("Template", record.templateName.escapingControls), .init("Made", Quantities.time(record.createdAt)),
            .init("Status", record.status.rawValue), .init("State", entry.state.rawValue),
        ]
        if let reason = entry.reason { facts.append(.init("Why", places.removed(from: reason.escapingControls))) }
        if let other = entry.project.duplicateOf { facts.append(.init("Same image as", other.escapingControls)) }
        if let request = record.requestID { facts.append(.init("Request", request.escapingControls)) }
        facts += versions.enumerated().map { number, object in
            .init(
                number == 0 ? "Earlier images" : "",
                "\(Quantities.time(object.storedAt)), \(Quantities.bytes(object.size)), \(object.storageClass.rawValue)"
            )
        }
        let photo = entry.image?.md5 ?? entry.object?.md5
        var items: [TimelineItem] = []
        var file: FilePath?
        if let photo {
            items = try await self.items(photo)
            file = try await self.file(of: photo, among: items)
        }
        let isReadable = items.contains { $0.object.map { $0.isReadable && $0.problem == nil } ?? false }
        let content = SitePage.Photo(
            id: photo?.description ?? "", name: entry.name, badge: nil, state: entry.state.rawValue, facts: facts,
            places: [], hasPicture: file != nil || isReadable, hasThumbnail: photo != nil, isFilm: false,
            canBeRestored: !isReadOnly && items.objectToRestore != nil,
            download: photo.flatMap {
                file != nil || storedCopy(of: $0, among: items) != nil ? "/photo/\($0)/file" : nil
            })
        return page(entry.name, .projects, session, .photo(content))
    }
}

extension ProjectEntry {
    fileprivate var name: String { (record.templateName.isEmpty ? record.id : record.templateName).escapingControls }
}
