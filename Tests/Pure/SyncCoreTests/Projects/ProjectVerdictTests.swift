import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@Suite struct ProjectVerdictTests {
    private static let day = 86_400.0

    @Test(
        arguments: [
            (ProjectRecord.Status.completed, 0.0, nil as String?, ProjectVerdict.store),
            (.completed, 400 * day, nil, .store), (.completed, 0, "a", .duplicate(of: "a")),
            (.processing, day, nil, .storeWhenWhole), (.processing, day + 1, nil, .giveUp),
            (.failed, 0, nil, .failed),
        ])
    func `status, age and twins decide`(
        status: ProjectRecord.Status, age: Double, original: String?, expected: ProjectVerdict
    ) {
        let now = Date(timeIntervalSince1970: 1_777_000_000)
        let record = ProjectRecord(
            id: "p", templateID: "t", templateName: "T", createdAt: now.addingTimeInterval(-age), status: status)
        #expect(ProjectVerdict(record, duplicateOf: original, isDeleting: false, at: now) == expected)
        #expect(ProjectVerdict(record, duplicateOf: original, isDeleting: true, at: now) == .deleting)
    }

    @Test(
        arguments: [
            ("projects.json", ProjectFileName.list), ("a-1.jpg", .image(id: "a-1")), ("a.PNG", .image(id: "a")),
            ("a-metadata.json", .metadata(id: "a")), ("notes.txt", .other), ("other.json", .other), (".jpg", .other),
            ("-metadata.json", .other), ("Projects.json", .other),
        ])
    func `a file is told by its name`(name: String, expected: ProjectFileName) {
        #expect(ProjectFileName(name) == expected)
        #expect(ProjectFileName(below: "deeper/projects.json") == .other)
    }
}
